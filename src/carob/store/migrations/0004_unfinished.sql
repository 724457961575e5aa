-- Runs in progress. A shard is a part of the traces; its results are saved once, by whichever
-- process finished first. A run that is complete moves to the tables above in one transaction.

CREATE TABLE unfinished_runs (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    dataset TEXT,
    shards BIGINT NOT NULL,
    started_at BIGINT NOT NULL
);

CREATE TABLE shards (
    run TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (run, number)
);
