-- What is large or dear and known by its content address: never in the way of the tables above.

CREATE TABLE traces (
    address TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest BYTEA NOT NULL,
    body BYTEA NOT NULL
);

CREATE TABLE judge_cache (
    address TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest BYTEA NOT NULL,
    body BYTEA NOT NULL
);

CREATE TABLE calibration (
    address TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest BYTEA NOT NULL,
    body BYTEA NOT NULL
);

CREATE TABLE case_traces (
    run BIGINT NOT NULL,
    place BIGINT NOT NULL,
    address TEXT NOT NULL,
    PRIMARY KEY (run, place)
) /* WITHOUT ROWID */;

CREATE INDEX case_traces_by_address ON case_traces (address);
