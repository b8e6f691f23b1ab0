internal import Foundation

/// The values of options as programs give them. Apple asks each for its `boolValue` or
/// `doubleValue`, which texts have as well as numbers; what has neither ends a program there.
enum OptionValues {
    /// Nil for what is not there, and for what is neither true nor false.
    static func flag(_ value: Any?) -> Bool? {
        if let number = value as? NSNumber { return number.boolValue }
        return (value as? String).map { text in
            let rest: Substring = text.drop { $0.isWhitespace || "+-0".contains($0) }
            guard let first = rest.first else { return false }
            return "YyTt123456789".contains(first)
        }
    }

    /// Nil for what is not there, and for what is no number.
    static func seconds(_ value: Any?) -> Double? {
        if let number = value as? NSNumber { return number.doubleValue }
        return (value as? String).flatMap { Double($0.trimmingCharacters(in: .whitespaces)) }
    }

    private static let flags = [
        NSReadOnlyPersistentStoreOption, NSMigratePersistentStoresAutomaticallyOption,
        NSInferMappingModelAutomaticallyOption, NSIgnorePersistentStoreVersioningOption,
        NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey,
        NSSQLiteAnalyzeOption, NSSQLiteManualVacuumOption, NSPersistentStoreForceDestroyOption,
        NSPersistentStoreDeferredLightweightMigrationOptionKey,
        NSPersistentStoreMigrationBackupOption,
    ]

    /// What is wrong with the values of `options`; nil where nothing is. An option that is passed
    /// over would open a store for writing that was to be read only, or without its history.
    static func mistake(in options: [AnyHashable: Any]) -> String? {
        func isWrong(_ key: String, _ isGood: (Any) -> Bool) -> Bool {
            options[key].map { !($0 is NSNull) && !isGood($0) } ?? false
        }
        if let key = flags.first(where: { isWrong($0) { flag($0) != nil } }) {
            return "\(key) takes true or false."
        }
        if isWrong(NSPersistentStoreTimeoutOption, { seconds($0) != nil }) {
            return "\(NSPersistentStoreTimeoutOption) takes a number of seconds."
        }
        if isWrong(NSSQLitePragmasOption, { $0 is [String: Any] }) {
            return "NSSQLitePragmasOption takes a dictionary of pragmas' names and values."
        }
        let stages = NSPersistentStoreStagedMigrationManagerOptionKey
        return isWrong(stages) { $0 is NSStagedMigrationManager }
            ? "\(stages) takes an NSStagedMigrationManager." : nil
    }
}
