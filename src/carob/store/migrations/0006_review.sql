-- What people say about answers that a metric has scored.

CREATE TABLE queues (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    run TEXT COLLATE "C" NOT NULL,
    metric TEXT COLLATE "C" NOT NULL,
    items BIGINT NOT NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE labels (
    queue TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    reviewer TEXT COLLATE "C" NOT NULL,
    label TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (queue, place, reviewer)
) /* WITHOUT ROWID */;
