internal import Stores

/// Whether a store may be written, and whether with history.
struct WritePermission {
    let isReadOnly: Bool
    /// What the options say; nil where saves go by what the file has.
    let tracksHistory: Bool?
    /// Whether nothing is written though the store was opened for it: the file has a history, and
    /// the options want none.
    let isClosed: Bool

    /// Throws `.readOnly` where nothing may be written.
    func check(path: String) throws {
        guard !isReadOnly else {
            throw StoreError(
                .readOnly, "The store was opened read-only; open it for writing to save.",
                fields: ["path": path])
        }
        guard !isClosed else { throw Self.wouldLeaveGap(path: path) }
    }

    static func wouldLeaveGap(path: String) -> StoreError {
        StoreError(
            .readOnly,
            "The store has a history, in which a save without one would leave a gap: open it "
                + "with NSPersistentHistoryTrackingKey, or delete its history first.",
            fields: ["path": path])
    }
}
