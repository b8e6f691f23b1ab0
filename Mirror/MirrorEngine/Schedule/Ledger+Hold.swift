internal import Foundation
internal import Platform
internal import SQLiteDriver
internal import SQLiteStore

/// Why rounds do not begin, and how much was moved today.
extension Ledger {
    func hold() throws -> MirrorHold? {
        guard let text = try setting(.hold)?.string else { return nil }
        return try? JSONDecoder().decode(MirrorHold.self, from: Data(text.utf8))
    }

    func set(_ hold: MirrorHold?) throws {
        let text = try hold.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        try set(.hold, to: SQLiteValue(text))
    }

    func bytes(of day: String) throws -> Int64 {
        guard try setting(.bytesDay)?.string == day else { return 0 }
        return try setting(.bytesOfDay)?.int64 ?? 0
    }
}

extension MirroredStore {
    /// Why rounds do not begin by themselves; nil where nothing holds them.
    package func hold() throws -> MirrorHold? {
        try read { try Ledger.exists(in: $0.ledger.connection) ? $0.ledger.hold() : nil }
    }

    /// Keeps why rounds do not begin; nil: they do. Writes where that is news only.
    package func note(_ hold: MirrorHold?) throws {
        guard try self.hold() != hold else { return }
        try write { mirror in
            try makeLedger(mirror)
            try mirror.ledger.set(hold)
            try mirror.ledger.finish()
        }
    }

    /// How many bytes rounds have moved on a day.
    package func bytesMoved(on day: String) throws -> Int64 {
        try read {
            try Ledger.exists(in: $0.ledger.connection) ? $0.ledger.bytes(of: day) : 0
        }
    }

    package func noteBytes(_ bytes: Int64, on day: String) throws {
        guard bytes > 0 else { return }
        try write { mirror in
            try makeLedger(mirror)
            let (sum, overflow) = try mirror.ledger.bytes(of: day).addingReportingOverflow(bytes)
            try mirror.ledger.set(.bytesDay, to: .text(day))
            try mirror.ledger.set(.bytesOfDay, to: .integer(overflow ? .max : sum))
            try mirror.ledger.finish()
        }
    }
}
