-- What receivers have acknowledged, as it came. Everything below `payloads` is derived from it by
-- the indexer, which keeps the number of the last payload that it has read in `progress`.

CREATE TABLE payloads (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    packing TEXT NOT NULL,
    body BYTEA NOT NULL
);

CREATE TABLE progress (
    name TEXT NOT NULL PRIMARY KEY,
    payload BIGINT NOT NULL
);

CREATE TABLE spans (
    trace_id TEXT COLLATE "C" NOT NULL,
    span_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (trace_id, span_id)
) /* WITHOUT ROWID */;

CREATE TABLE trace_payloads (
    trace_id TEXT COLLATE "C" NOT NULL,
    payload BIGINT NOT NULL,
    PRIMARY KEY (trace_id, payload)
) /* WITHOUT ROWID */;

CREATE TABLE session_traces (
    trace_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session TEXT COLLATE "C" NOT NULL,
    rank BIGINT NOT NULL,
    started BIGINT,
    ended BIGINT,
    updated BIGINT NOT NULL,
    spans BIGINT NOT NULL,
    agent TEXT
);

CREATE INDEX session_traces_by_session ON session_traces (session);

-- A session that is kept is never removed to make room: it became golden data or has a label.

CREATE TABLE sessions (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    started BIGINT,
    ended BIGINT,
    updated BIGINT NOT NULL,
    spans BIGINT NOT NULL,
    agent TEXT,
    kept BIGINT NOT NULL DEFAULT 0,
    trace BYTEA
);

CREATE INDEX sessions_by_time ON sessions (updated, id);
