internal import Foundation
internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// What people call one object.
enum ObjectName {
    /// `Entity/p3`, an object's URI, or a record's name. An URI of another store names none of this
    /// one's, whose identifier is `identifier`.
    static func row(
        _ word: String, _ layout: ModelLayout, of identifier: String, _ ledger: Ledger?
    ) throws -> RowID? {
        let scheme = "x-coredata://"
        var parts = word.split(separator: "/", omittingEmptySubsequences: false)
        if word.hasPrefix(scheme) {
            parts = word.dropFirst(scheme.count).split(separator: "/")
            guard parts.count == 3, parts[0] == identifier else { return nil }
            parts.removeFirst()
        }
        if parts.count == 2, let name = parts.first, let key = parts.last, key.first == "p",
            let number = Int64(key.dropFirst()), let entity = layout.entity(named: String(name))
        {
            return RowID(entity: entity.number, key: number)
        }
        return try ledger?.entry(named: word)?.row ?? ledger?.row(named: word)
    }
}
