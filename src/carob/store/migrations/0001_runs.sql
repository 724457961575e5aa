-- What was scored. The bodies in `cases` are the truth, byte by byte as `carob run --format json`
-- writes them; `outcomes` repeats their numbers so that they can be asked for, and
-- `carob store verify` holds the two together. There are no foreign keys: checking one for each of
-- a million outcomes would cost more than storing them. What is in comments within a statement is
-- for SQLite only.

CREATE TABLE runs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    cases BIGINT NOT NULL,
    digest BYTEA NOT NULL
);

CREATE TABLE cases (
    run BIGINT NOT NULL,
    place BIGINT NOT NULL,
    case_id TEXT,
    trace_id TEXT,
    status TEXT NOT NULL,
    digest BYTEA NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (run, place)
);

CREATE TABLE outcomes (
    run BIGINT NOT NULL,
    place BIGINT NOT NULL,
    part BIGINT NOT NULL,
    metric TEXT NOT NULL,
    status TEXT NOT NULL,
    value DOUBLE PRECISION,
    threshold DOUBLE PRECISION,
    PRIMARY KEY (run, place, part)
) /* WITHOUT ROWID */;

-- The same numbers may come out many times. Each time is an execution, with all of the document
-- but the cases in `head`.

CREATE TABLE executions (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run BIGINT NOT NULL,
    at BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    verdict TEXT NOT NULL,
    dataset TEXT,
    version TEXT,
    total BIGINT NOT NULL,
    passed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    unscored BIGINT NOT NULL,
    errors BIGINT NOT NULL,
    means TEXT NOT NULL,
    digest BYTEA NOT NULL,
    head BYTEA NOT NULL
);

CREATE INDEX executions_by_time ON executions (at, number);
CREATE INDEX executions_by_run ON executions (run, at, number);

-- What executions are looked up by: dataset, agent, tag, label.

CREATE TABLE facets (
    kind TEXT NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    execution BIGINT NOT NULL,
    PRIMARY KEY (kind, value, at, execution)
) /* WITHOUT ROWID */;

CREATE INDEX facets_by_execution ON facets (execution, kind);

CREATE TABLE datasets (
    digest TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT,
    format TEXT,
    seen_at BIGINT NOT NULL
);
