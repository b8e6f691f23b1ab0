internal import Foundation
internal import Platform

/// Finds the policies that mappings name.
enum MigrationPolicies {
    private static let known = Lock<[String: NSEntityMigrationPolicy.Type]>([:])

    static func note(_ type: NSEntityMigrationPolicy.Type) {
        let full = String(reflecting: type)
        let short = String(full.split(separator: ".").last ?? "")
        known.withLock { known in
            known[full] = type
            known[short] = type
        }
    }

    /// Whether a class of the program's own has a say in a mapping.
    static func isOwn(_ mapping: NSEntityMapping) -> Bool {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else { return false }
        return name != "NSEntityMigrationPolicy"
    }

    /// The policy of a mapping. Throws `NSEntityMigrationPolicyError` where its class is not found.
    static func policy(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
        guard isOwn(mapping), let name = mapping.entityMigrationPolicyClassName else {
            return NSEntityMigrationPolicy()
        }
        guard let type = type(named: name) else { throw MigrationErrors.noPolicy(name) }
        return type.init()
    }

    /// A module that a mapping's file names may be called otherwise here, or stand for a variable
    /// of a build.
    private static func type(named name: String) -> NSEntityMigrationPolicy.Type? {
        let short = name.split(separator: ".").last.map(String.init) ?? name
        let found = known.withLock { $0[name] ?? $0[short] }
        return found ?? KnownClasses.any(named: name) as? NSEntityMigrationPolicy.Type
            ?? KnownClasses.any(named: short) as? NSEntityMigrationPolicy.Type
    }
}
