internal import Platform
internal import RecordWire

/// Rows of accounts that were read lately, as they are for as long as nothing is committed to
/// those: what is revoked or set counts at once, whichever process it came from.
final class RowMemory<Row: Sendable>: Sendable {
    private struct Known {
        var version: RowsVersion?
        var rows: [ExactName: Row] = [:]
    }

    private let known = Lock(Known())
    /// How many rows are kept: a megabyte or two.
    let rowsMax: Int

    init(rowsMax: Int = 4_096) { self.rowsMax = rowsMax }

    /// The row under a name, kept or read. `read` is called after `version` was told: what is
    /// committed in between makes the row too new, never too old. One that is nil is not kept.
    func row<Failure>(
        _ name: String, at version: RowsVersion?, _ read: () throws(Failure) -> Row?
    ) throws(Failure) -> Row? {
        guard let version else { return try read() }
        if let row = kept(name, at: version) { return row }
        let row = try read()
        if let row { keep(row, name, at: version) }
        return row
    }

    /// Cost: O(1).
    private func kept(_ name: String, at version: RowsVersion) -> Row? {
        known.withLock { $0.version == version ? $0.rows[ExactName(name)] : nil }
    }

    private func keep(_ row: Row, _ name: String, at version: RowsVersion) {
        known.withLock { known in
            if known.version != version || known.rows.count >= rowsMax {
                known = Known(version: version)
            }
            known.rows[ExactName(name)] = row
        }
    }

    var count: Int { known.withLock { $0.rows.count } }
}
