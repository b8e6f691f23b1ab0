internal import Foundation
public import ObjectModel

/// What an inferred migration makes of each entity and property, in words, and the rules that
/// forbid it where it cannot be done.
public struct MigrationExplanation: Sendable, CustomStringConvertible {
    /// What becomes of an entity or a property.
    public enum Kind: String, Sendable {
        /// It is new, is gone, goes on under another name, or is of another kind.
        case added, removed, renamed, changed
        /// A rule forbids it: a mapping model is needed.
        case forbidden
    }

    /// One entity or property that is not what it was.
    public struct Line: Hashable, Sendable, CustomStringConvertible {
        /// What becomes of it.
        public let kind: Kind
        /// As the newer version calls it; what is gone as the older did.
        public let entity: String
        /// Nil where the line is about the entity as a whole.
        public let property: String?
        /// What happens to it, or why it cannot, as the end of a sentence that begins with its
        /// name.
        public let text: String

        public var description: String {
            "\(entity)\(property.map { ".\($0)" } ?? "") \(text)"
        }
    }

    /// In order of the entities' names.
    public let lines: [Line]

    /// Whether no rule forbids the migration. Rows may still: those that lack a mandatory value, or
    /// break a new constraint.
    public var isPossible: Bool { !lines.contains { $0.kind == .forbidden } }

    /// Whether values are lost on the way.
    public var losesValues: Bool { lines.contains { $0.kind == .removed } }

    /// A line for each of `lines`.
    public var description: String { lines.map(\.description).joined(separator: "\n") }

    /// Compares two versions of a model. Cost: O(properties).
    public init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        self.init(source.entities, destination.entities)
    }

    init(_ source: [NSEntityDescription], _ destination: [NSEntityDescription]) {
        let (mapping, refusals) = InferredMapping.attempt(from: source, to: destination)
        var lines = refusals.map {
            Line(
                kind: .forbidden, entity: $0.entity, property: $0.property,
                text: "cannot be inferred: \($0.reason)")
        }
        for match in mapping.matches { lines += ExplainedMatch(match, in: mapping).lines }
        for entity in mapping.removed {
            lines.append(
                Line(
                    kind: .removed, entity: entity.name ?? "", property: nil,
                    text: "is gone, with its objects"))
        }
        self.lines = lines.sorted {
            ($0.entity, $0.property ?? "", $0.text) < ($1.entity, $1.property ?? "", $1.text)
        }
    }
}

/// The lines of one entity.
private struct ExplainedMatch {
    typealias Line = MigrationExplanation.Line

    private let match: EntityMatch
    private let mapping: InferredMapping

    init(_ match: EntityMatch, in mapping: InferredMapping) {
        self.match = match
        self.mapping = mapping
    }

    private func line(
        _ kind: MigrationExplanation.Kind, _ property: String?, _ text: String
    ) -> Line {
        Line(kind: kind, entity: match.destination.name ?? "", property: property, text: text)
    }

    var lines: [Line] {
        guard let source = match.source else { return [line(.added, nil, "is new")] }
        if match.isUnchanged { return [] }
        return entityLines(source) + attributeLines() + relationshipLines() + goneLines(source)
    }

    private func entityLines(_ source: NSEntityDescription) -> [Line] {
        let present = match.destination
        var lines: [Line] = []
        if source.name != present.name {
            lines.append(line(.renamed, nil, "was \(source.name ?? "")"))
        }
        let parent = source.superentity.flatMap { mapping.destination(of: $0) }
        if parent !== present.superentity {
            lines.append(
                line(
                    .changed, nil,
                    "is below \(present.superentity?.name ?? "nothing") now, not "
                        + (source.superentity?.name ?? "nothing")))
        }
        if source.isAbstract != present.isAbstract {
            lines.append(
                line(.changed, nil, present.isAbstract ? "is abstract now" : "is not abstract now"))
        }
        if source.uniquenessConstraintNames != present.uniquenessConstraintNames {
            lines.append(line(.changed, nil, "has other uniqueness constraints"))
        }
        return lines
    }

    /// Whether the entity itself declares a property; for what it inherits, its parent's lines say
    /// it.
    private func declares(_ property: NSPropertyDescription) -> Bool {
        match.destination.declaredProperties.contains { $0.name == property.name }
    }

    private func attributeLines() -> [Line] {
        match.attributes.filter { declares($0.destination) }.flatMap { attribute -> [Line] in
            let present = attribute.destination
            guard let former = attribute.source else {
                let isDemanded =
                    !present.isOptional && present.defaultValue == nil
                    && !(present is NSDerivedAttributeDescription)
                let advice = isDemanded ? ", mandatory and without a default: no row has one" : ""
                return [line(.added, present.name, "is new\(advice)")]
            }
            var lines = renaming(former, present)
            if former.attributeType != present.attributeType {
                let type = former.attributeType.fileName ?? "\(former.attributeType.rawValue)"
                lines.append(line(.changed, present.name, "was of type \(type)"))
            }
            return lines + optionality(former, present)
        }
    }

    private func renaming(
        _ former: NSPropertyDescription, _ present: NSPropertyDescription
    ) -> [Line] {
        former.name == present.name
            ? [] : [line(.renamed, present.name, "was \(former.name)")]
    }

    private func optionality(
        _ former: NSPropertyDescription, _ present: NSPropertyDescription
    ) -> [Line] {
        guard former.isOptional != present.isOptional else { return [] }
        return [
            line(
                .changed, present.name, present.isOptional ? "is optional now" : "is mandatory now")
        ]
    }

    private func relationshipLines() -> [Line] {
        match.relationships.filter { declares($0.destination) }.flatMap { link -> [Line] in
            let present = link.destination
            guard let former = link.source else {
                return [line(.added, present.name, "is new and begins empty")]
            }
            var lines = renaming(former, present) + optionality(former, present)
            if former.isToMany != present.isToMany {
                lines.append(
                    line(
                        .changed, present.name,
                        present.isToMany ? "leads to many now" : "leads to one now; one stays"))
            }
            if present.isToMany, former.isOrdered != present.isOrdered {
                lines.append(
                    line(
                        .changed, present.name,
                        present.isOrdered ? "is ordered now" : "has no order now"))
            }
            return lines
        }
    }

    private func goneLines(_ source: NSEntityDescription) -> [Line] {
        let kept = Set(
            match.attributes.compactMap { $0.source?.name }
                + match.relationships.compactMap { $0.source?.name })
        return source.declaredProperties
            .filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
            .filter { !kept.contains($0.name) && !($0 is NSDerivedAttributeDescription) }
            .map { property in
                let what = property is NSRelationshipDescription ? "links" : "values"
                return line(.removed, property.name, "is gone, with its \(what)")
            }
    }
}
