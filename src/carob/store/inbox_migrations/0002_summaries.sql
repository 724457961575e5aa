-- What the trace of a session says, once it was built; NULL is "not read yet".

ALTER TABLE sessions ADD COLUMN message TEXT;
ALTER TABLE sessions ADD COLUMN turns BIGINT;
ALTER TABLE sessions ADD COLUMN tools BIGINT;

-- Which sessions a rule of online evaluation has decided about. `result` is the scored case, or
-- NULL if the rule left the session out.

CREATE TABLE evaluated (
    rule TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    day TEXT COLLATE "C" NOT NULL,
    result BYTEA,
    PRIMARY KEY (rule, session)
);

CREATE INDEX evaluated_by_day ON evaluated (rule, day);
