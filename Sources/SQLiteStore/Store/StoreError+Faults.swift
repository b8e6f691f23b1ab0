package import SQLiteDriver
package import Stores

extension StoreError {
    /// What a refusal of SQLite means for the store at `path`.
    package init(_ fault: SQLiteFault, path: String) {
        // Asked for only where it matters.
        self.init(
            fault, path: path, hasRoom: !fault.mayLackRoom || DiskRoom.isLeft(beside: path))
    }

    /// `hasRoom`: whether anything can be written beside the store.
    init(_ fault: SQLiteFault, path: String, hasRoom: Bool) {
        let (code, message): (Code, String)
        if fault.isStale {
            (code, message) = (
                .busy,
                "Another process saved since this transaction began to read; begin it again."
            )
        } else if fault.mayLackRoom, !hasRoom {
            (code, message) = (
                .diskFull,
                "The disk is full: there is no room for the store's log or what goes with it, and "
                    + "nothing was written; make room and try again."
            )
        } else if fault.lacksSharing {
            (code, message) = (
                .cannotOpen,
                "The file system has no locks or shared memory as the store's log needs them; move "
                    + "the store to a local disk, or choose the pragma journal_mode = DELETE."
            )
        } else if fault.isBusy {
            (code, message) = (.busy, "Another process holds the store's lock; try again later.")
        } else if fault.isFull {
            (code, message) = (
                .diskFull, "The disk is full, nothing was written; make room and save again."
            )
        } else if fault.isNotADatabase {
            (code, message) = (
                .corrupt, "The file is damaged or encrypted; restore it from a copy."
            )
        } else if fault.wantsRollback {
            (code, message) = (
                .readOnly,
                "A program ended in the middle of a save. What it left is taken back where the "
                    + "file can be written; check the access of the file and of its folder."
            )
        } else if fault.isReadOnly {
            (code, message) = (
                .readOnly,
                "The store cannot be written; check the access of the file, of those beside it "
                    + "and of their folder."
            )
        } else if fault.cannotOpen {
            (code, message) = (
                .cannotOpen,
                "The file or one beside it cannot be opened; check the path and its access."
            )
        } else if fault.isOfDepth {
            (code, message) = (
                .unsupported,
                "The request nests too deep for SQLite; lay it flat, or ask for less and choose "
                    + "among the objects."
            )
        } else {
            (code, message) = (.failed, "SQLite refused a statement: \(fault.message).")
        }
        var fields = ["path": path]
        fields["sql"] = fault.sql
        self.init(code, message, fields: fields, cause: fault)
    }

    /// Runs `body`; faults of SQLite come out as store errors.
    package static func mapping<Result>(path: String, _ body: () throws -> Result) throws -> Result
    {
        do {
            return try body()
        } catch let fault as SQLiteFault {
            throw StoreError(fault, path: path)
        }
    }
}
