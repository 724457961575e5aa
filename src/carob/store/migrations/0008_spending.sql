-- What judges have spent on a run in progress that several processes score. Amounts are in
-- billionths of a US dollar, times in microseconds since 1970.

CREATE TABLE judge_spending (
    run TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    calls BIGINT NOT NULL,
    cost BIGINT NOT NULL
);

-- Calls that are running. That of a process that was killed stays and counts in full.
CREATE TABLE judge_reservations (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    run TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    until BIGINT NOT NULL
);
CREATE INDEX judge_reservations_by_run ON judge_reservations (run);

-- Until when a provider asked not to be called again.
CREATE TABLE judge_pauses (
    run TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (run, model)
);
