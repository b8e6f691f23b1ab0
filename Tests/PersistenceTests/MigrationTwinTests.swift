import CoreData
import Foundation
import Testing

/// Random pairs of versions by seed: what the upgrade of a SQLite file makes is what the migration
/// manager makes object by object, and what plain dictionaries say.
@Suite struct MigrationTwinTests {
    /// A random generator that gives the same numbers for a seed on every machine.
    private struct Dice {
        var state: UInt64
        mutating func roll(_ sides: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(sides))
        }
    }

    private struct Attribute {
        var name: String
        var identifier: String
        var isNumber: Bool
        var isOptional = true
        var fallback: String?
    }

    private struct Link {
        var name: String
        var identifier: String
        var back: String
        var owner: Int
        var member: Int
        var side: TestModel.Side
        var backSide: TestModel.Side
    }

    private struct Entity {
        var name: String
        var identifier: String
        var parent: Int?
        var attributes: [Attribute]
    }

    /// One version; entities are known by their place in the list, in both versions.
    private struct Version {
        var entities: [Entity?] = []
        var links: [Link] = []

        var model: NSManagedObjectModel {
            VersionDraft.model { draft in
                for entity in entities.compactMap({ $0 }) {
                    draft.entity(
                        entity.name, entity.attributes.map(Version.description),
                        below: entity.parent.flatMap { entities[$0]?.name },
                        from: entity.identifier)
                }
                for link in links {
                    guard let owner = entities[link.owner], let member = entities[link.member]
                    else { continue }
                    draft.link(
                        owner.name, link.name, link.side, member.name, link.back, link.backSide)
                    draft.rename(owner.name, link.name, from: link.identifier)
                }
            }
        }

        private static func description(_ attribute: Attribute) -> NSAttributeDescription {
            let made =
                attribute.isNumber
                ? number(attribute.name, .integer64AttributeType) : text(attribute.name)
            made.renamingIdentifier = attribute.identifier
            made.isOptional = attribute.isOptional
            if let fallback = attribute.fallback {
                made.defaultValue = attribute.isNumber ? Int(fallback) ?? 0 : fallback as Any
            }
            return made
        }
    }

    private func first(_ dice: inout Dice) -> Version {
        var version = Version()
        for index in 0..<(2 + dice.roll(4)) {
            let letter = ["Kiwi", "Apple", "Zebra", "Melon", "Bread", "Olive"][index]
            var entity = Entity(
                name: letter, identifier: letter, parent: nil,
                attributes: [Attribute(name: "name", identifier: "name", isNumber: false)])
            if index > 0, dice.roll(3) == 0 {
                entity.parent = dice.roll(index)
                entity.attributes = []
            }
            for place in 0..<dice.roll(4) {
                let name = "a\(index)\(place)"
                entity.attributes.append(
                    Attribute(name: name, identifier: name, isNumber: dice.roll(2) == 0))
            }
            version.entities.append(entity)
        }
        for index in 0..<dice.roll(4) {
            let sides: [TestModel.Side] = [.one, .many, .ordered]
            version.links.append(
                Link(
                    name: "l\(index)", identifier: "l\(index)", back: "b\(index)",
                    owner: dice.roll(version.entities.count),
                    member: dice.roll(version.entities.count), side: sides[dice.roll(3)],
                    backSide: sides[dice.roll(2)]))
        }
        return version
    }

    private func edited(_ version: Version, _ dice: inout Dice) -> Version {
        var next = version
        for _ in 0...dice.roll(5) {
            let index = dice.roll(next.entities.count)
            switch dice.roll(7) {
            case 0: next.entities[index]?.name = "New\(index)"
            case 1:
                next.entities[index]?.attributes.append(
                    Attribute(
                        name: "x\(dice.roll(1_000_000))", identifier: "x", isNumber: true,
                        isOptional: false, fallback: "5"))
            case 2:
                if let count = next.entities[index]?.attributes.count, count > 1 {
                    next.entities[index]?.attributes.remove(at: 1 + dice.roll(count - 1))
                }
            case 3:
                if let count = next.entities[index]?.attributes.count, count > 1 {
                    next.entities[index]?.attributes[1 + dice.roll(count - 1)].name =
                        "r\(dice.roll(1_000_000))"
                }
            case 4:
                if !next.links.isEmpty { next.links[dice.roll(next.links.count)].side = .many }
            case 5: if !next.links.isEmpty { next.links.remove(at: dice.roll(next.links.count)) }
            default:
                // An entity that nobody inherits from may go.
                if next.entities.compactMap({ $0 }).count > 1,
                    !next.entities.contains(where: { $0?.parent == index })
                {
                    next.entities[index] = nil
                    next.links.removeAll { $0.owner == index || $0.member == index }
                }
            }
        }
        // New attributes have identifiers of their own.
        for index in next.entities.indices {
            for place in next.entities[index]?.attributes.indices ?? [].indices
            where next.entities[index]?.attributes[place].identifier == "x" {
                let name = next.entities[index]?.attributes[place].name
                next.entities[index]?.attributes[place].identifier = name ?? ""
            }
        }
        return next
    }

    private func fill(_ version: Version, _ context: NSManagedObjectContext, _ dice: inout Dice) {
        var objects: [Int: [NSManagedObject]] = [:]
        for (index, entity) in version.entities.enumerated() {
            guard let entity else { continue }
            for number in 0..<(1 + dice.roll(6)) {
                let object = context.make(entity.name, ["name": "\(index)-\(number)"])
                for (key, attribute) in object.entity.attributesByName
                    .sorted(by: { $0.key < $1.key }) where key != "name" && dice.roll(4) > 0
                {
                    let value = dice.roll(1000)
                    let isText = attribute.attributeType == .stringAttributeType
                    object.setValue(isText ? "v\(value)" : value, forKey: key)
                }
                objects[index, default: []].append(object)
            }
        }
        for link in version.links {
            for owner in objects[link.owner] ?? [] where dice.roll(3) > 0 {
                let members = (objects[link.member] ?? []).filter { _ in dice.roll(2) == 0 }
                guard let one = members.first else { continue }
                switch link.side {
                case .one: owner.setValue(one, forKey: link.name)
                case .many: owner.setValue(Set(members), forKey: link.name)
                case .ordered: owner.setValue(NSOrderedSet(array: members), forKey: link.name)
                }
            }
        }
    }

    /// Every object as a line: its entity, its values, the names at the ends of its links.
    private func image(_ context: NSManagedObjectContext) throws -> [String] {
        let model = try #require(context.persistentStoreCoordinator).managedObjectModel
        return try model.entities.flatMap { entity -> [String] in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            return try context.fetch(request).map { object in
                let values = entity.attributesByName.keys.sorted().map {
                    "\($0)=\(object.value(forKey: $0) ?? "nil")"
                }
                let links = entity.relationshipsByName.sorted { $0.key < $1.key }.map {
                    "\($0.key)=\(object.names($0.key))"
                }
                return "\(entity.name ?? "") \(values) \(links)"
            }
        }.sorted()
    }

    @Test(arguments: 1...120) func theFileAndTheObjectsAgree(seed: UInt64) throws {
        var dice = Dice(state: seed &* 977)
        let version = first(&dice)
        let next = edited(version, &dice)
        let (old, new) = (version.model, next.model)
        let (bench, twin) = (try MigrationBench(), try MigrationBench())
        try bench.fill(old) { fill(version, $0, &dice) }
        let mapping: NSMappingModel
        do {
            mapping = try NSMappingModel.inferredMappingModel(
                forSourceModel: old, destinationModel: new)
        } catch let error as NSError {
            #expect(error.code == NSInferredMappingModelError)
            return
        }
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: bench.url, type: .sqlite, mapping: mapping, to: twin.url, type: .sqlite)
        let byRows = try bench.open(new) { try image($0) }
        let byObjects = try twin.open(new) { try image($0) }
        #expect(byRows == byObjects)
        #expect(!byRows.isEmpty)
        if old.entityVersionHashesByName != new.entityVersionHashesByName {
            try bench.expectFreshShape(new)
        }
    }
}
