/// An entity or a property of a model of Xcode 3, with the facts of its stereotypes: lists of named
/// values that the editor hung on its objects.
struct LegacyObject {
    let object: ArchivedObject
    private let facts: [String: ArchivedValue]

    /// Gathers the facts. Throws where the archive asks for more steps than any real one.
    init(_ object: ArchivedObject) throws {
        var facts: [String: ArchivedValue] = [:]
        for stereotype in try Self.bucket(object, "Stereotypes") {
            guard let holder = stereotype.value.object else { continue }
            for fact in try Self.bucket(holder, "OwnedAttributes") {
                guard let key = fact.key.string else { continue }
                facts[key] = fact.value.object?["_default"]
            }
        }
        self.object = object
        self.facts = facts
    }

    /// The entries of one of the editor's own collections.
    private static func bucket(_ object: ArchivedObject, _ name: String) throws -> [Entry] {
        try entries(of: object.object("XDBucketFor\(name)storage"))
    }

    typealias Entry = (key: ArchivedValue, value: ArchivedValue)

    /// The entries of a dictionary, each counted as a step.
    static func entries(of object: ArchivedObject?) throws -> [Entry] {
        guard let object else { return [] }
        let entries = object.entries
        try count(entries.count, in: object.archive)
        return entries
    }

    /// The members of a list, each counted as a step.
    static func members(of object: ArchivedObject?) throws -> [ArchivedValue?] {
        guard let object else { return [] }
        let members = object.members
        try count(members.count, in: object.archive)
        return members
    }

    private static func count(_ steps: Int, in archive: KeyedArchive) throws {
        for _ in 0...steps where !archive.takeStep() {
            throw archive.broken("its objects unfold without end")
        }
    }

    /// The objects of a bucket by their names, in the order of the names.
    static func named(
        _ holder: ArchivedObject, in bucket: String
    ) throws -> [(name: String, object: LegacyObject)] {
        let found = try Self.bucket(holder, bucket).compactMap { entry in
            try entry.value.object.map { object in
                (object.string("_name") ?? entry.key.string ?? "", try LegacyObject(object))
            }
        }
        return found.sorted { VersionHashing.precedes($0.0, $1.0) }
    }

    /// The names in a list of texts or of objects that have names.
    static func names(in value: ArchivedValue?) throws -> [String] {
        try members(of: value?.object).compactMap { member in
            member?.string ?? member?.object?.string("_name")
        }
    }

    subscript(_ key: String) -> ArchivedValue? { facts[key] }

    /// A text, or a whole number as text; nil where there is none.
    func text(_ key: String) -> String? {
        guard let value = facts[key] else { return nil }
        return value.string ?? value.integer.map { String($0) }
    }

    /// YES or NO; nil where nothing is said.
    func flag(_ key: String) -> String? {
        facts[key]?.integer.map { $0 == 0 ? "NO" : "YES" }
    }
}
