package store

import "strings"

// keptStep counts what is kept for callers. Rows of before count nothing, they are gone within a day.
var keptStep = `
CREATE TABLE kept (caller TEXT PRIMARY KEY, count INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sizes (name TEXT PRIMARY KEY, count INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO sizes (name, count, size) VALUES ('kept', 0, 0);
ALTER TABLE requests ADD COLUMN caller TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
` + keptTriggers("requests") + keptTriggers("calls")

func keptTriggers(table string) string {
	return strings.ReplaceAll(`
CREATE TRIGGER TABLE_kept AFTER INSERT ON TABLE BEGIN
	INSERT INTO kept (caller, count, size) VALUES (NEW.caller, 1, NEW.size)
		ON CONFLICT (caller) DO UPDATE SET count = count + 1, size = size + NEW.size;
	UPDATE sizes SET count = count + 1, size = size + NEW.size WHERE name = 'kept';
END;
CREATE TRIGGER TABLE_grown AFTER UPDATE OF size ON TABLE WHEN NEW.size <> OLD.size BEGIN
	UPDATE kept SET size = size + NEW.size - OLD.size WHERE caller = NEW.caller;
	UPDATE sizes SET size = size + NEW.size - OLD.size WHERE name = 'kept';
END;
CREATE TRIGGER TABLE_forgotten AFTER DELETE ON TABLE WHEN OLD.size > 0 BEGIN
	UPDATE kept SET count = count - 1, size = size - OLD.size WHERE caller = OLD.caller;
	DELETE FROM kept WHERE caller = OLD.caller AND count <= 0;
	UPDATE sizes SET count = count - 1, size = size - OLD.size WHERE name = 'kept';
END;
`, "TABLE", table)
}
