internal import Foundation

/// The accessors of one to-many relationship: `addToTags(_:)` and the like.
struct AccessorsText {
    /// The extension.
    let text: String

    init(relationship: NSRelationshipDescription, owner: String, member: String) {
        let name = SwiftName.capitalized(relationship.name)
        let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        let ordered = relationship.isOrdered ? Self.ordered(name, member) : []
        let all =
            ordered + [
                "addTo\(name)(_ value: \(member))",
                "removeFrom\(name)(_ value: \(member))",
                "addTo\(name)(_ values: \(set))",
                "removeFrom\(name)(_ values: \(set))",
            ]
        let lines = all.map { "    @NSManaged public func \($0)\n" }
        text =
            "// MARK: Generated accessors for \(relationship.name)\nextension \(owner) {\n\n"
            + lines.joined(separator: "\n") + "\n}"
    }

    private static func ordered(_ name: String, _ member: String) -> [String] {
        [
            "insertInto\(name)(_ value: \(member), at idx: Int)",
            "removeFrom\(name)(at idx: Int)",
            "insertInto\(name)(_ values: [\(member)], at indexes: NSIndexSet)",
            "removeFrom\(name)(at indexes: NSIndexSet)",
            "replace\(name)(at idx: Int, with value: \(member))",
            "replace\(name)(at indexes: NSIndexSet, with values: [\(member)])",
        ]
    }
}
