import Foundation
import Testing

@testable import ObjectModel

/// Entities of real files with the hashes Apple's frameworks gave them.
@Suite(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
struct GoldenHashTests {
    @Test func everyGoldenEntityHashesAsApplesFrameworksDid() throws {
        let file = try #require(Corpus.folder).appendingPathComponent("golden_entity_hashes.jsonl")
        let lines = try Data(contentsOf: file).split(separator: 10)
        #expect(lines.count > 200)
        for line in lines {
            let vector = try JSONDecoder().decode(Vector.self, from: line)
            #expect(
                vector.computedHash() == vector.versionHash, "\(vector.entity) of \(vector.from)")
        }
    }
}

/// One line of the golden file, in its own words.
private struct Vector: Decodable {
    struct Property: Decodable {
        var kind: String
        var optional: Bool?
        var transient: Bool?
        var readOnly: Bool?
        var versionHashModifier: String?
        var expression: String?
        var attribute = AttributeFacts()
        var end = EndFacts()

        enum CodingKeys: CodingKey {
            case kind, optional, transient, readOnly, versionHashModifier, expression
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            kind = try container.decode(String.self, forKey: .kind)
            optional = try container.decodeIfPresent(Bool.self, forKey: .optional)
            transient = try container.decodeIfPresent(Bool.self, forKey: .transient)
            readOnly = try container.decodeIfPresent(Bool.self, forKey: .readOnly)
            versionHashModifier = try container.decodeIfPresent(
                String.self, forKey: .versionHashModifier)
            expression = try container.decodeIfPresent(String.self, forKey: .expression)
            attribute = try AttributeFacts(from: decoder)
            end = try EndFacts(from: decoder)
        }
    }

    struct AttributeFacts: Decodable {
        var attributeType: UInt?
        var allowsExternalBinaryDataStorage: Bool?
        var preservesValueInHistoryOnDeletion: Bool?
    }

    struct EndFacts: Decodable {
        var destination: String?
        var inverse: String?
        var min: Int?
        var max: Int?
        var ordered: Bool?
    }

    var entity: String
    var abstract: Bool
    var superHash: String?
    var properties: [String: Property]
    var uniquenessConstraints: [[String]]
    var versionHash: String
    var versionHashModifier: String?
    var from: String

    func computedHash() -> String {
        let described = NSEntityDescription()
        described.name = entity
        described.isAbstract = abstract
        described.versionHashModifier = versionHashModifier
        described.uniquenessConstraints = uniquenessConstraints
        var strangers: [NSPropertyDescription] = []
        described.properties = properties.map { name, facts in
            let property = description(of: facts, named: name, in: described, &strangers)
            property.name = name
            property.isOptional = facts.optional ?? true
            property.isTransient = facts.transient ?? false
            property.marks.set(.readOnly, to: facts.readOnly ?? false)
            property.versionHashModifier = facts.versionHashModifier
            return property
        }
        let parent = NSEntityDescription()
        var known: [ObjectIdentifier: [UInt8]] = [:]
        if let superHash {
            parent.subentities = [described]
            known[ObjectIdentifier(parent)] = Self.bytes(superHash)
        }
        var hashing = VersionHashing(known: known)
        return withExtendedLifetime(strangers) { SHA2Tests.hex(hashing.hash(of: described)) }
    }

    private func description(
        of facts: Property, named name: String, in owner: NSEntityDescription,
        _ strangers: inout [NSPropertyDescription]
    ) -> NSPropertyDescription {
        switch facts.kind {
        case "relationship":
            let relationship = NSRelationshipDescription()
            relationship.destinationEntityName = facts.end.destination
            relationship.maxCount = facts.end.max ?? 0
            relationship.minCount = facts.end.min ?? 0
            relationship.isOrdered = facts.end.ordered ?? false
            let isItsOwnInverse = facts.end.inverse == name && facts.end.destination == entity
            let inverse = isItsOwnInverse ? relationship : NSRelationshipDescription()
            if !isItsOwnInverse { inverse.name = facts.end.inverse ?? "" }
            relationship.inverseRelationship = inverse
            strangers.append(inverse)
            return relationship
        case "derived":
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpressionText = facts.expression
            return derived
        case "fetched":
            return NSFetchedPropertyDescription()
        default:
            let attribute = NSAttributeDescription()
            attribute.attributeType =
                facts.attribute.attributeType.flatMap(NSAttributeType.init) ?? .stringAttributeType
            attribute.allowsExternalBinaryDataStorage =
                facts.attribute.allowsExternalBinaryDataStorage ?? false
            attribute.preservesValueInHistoryOnDeletion =
                facts.attribute.preservesValueInHistoryOnDeletion ?? false
            return attribute
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
        }
    }
}
