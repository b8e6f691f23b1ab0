internal import Foundation
internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// What people call one object.
enum ObjectName {
    /// `Entity/p3`, an object's URI, or a record's name.
    static func row(
        _ word: String, _ layout: ModelLayout, _ ledger: Ledger?
    ) throws -> RowID? {
        let parts = word.split(separator: "/").suffix(2)
        if parts.count == 2, let name = parts.first, let key = parts.last, key.first == "p",
            let number = Int64(key.dropFirst()), let entity = layout.entity(named: String(name))
        {
            return RowID(entity: entity.number, key: number)
        }
        return try ledger?.entry(named: word)?.row ?? ledger?.row(named: word)
    }
}
