import CoreData
import Foundation
import Testing

/// Random edits of a graph with every kind of relationship. After each step both ends of each link
/// agree; after each save a fresh context sees the same graph.
@Suite struct RandomGraphTests {
    @Test(arguments: 1...40)
    func memoryGraphsStayWhole(seed: UInt64) throws {
        var walk = try Walk(seed: seed, kind: .memory)
        try walk.run(steps: 120)
    }

    @Test(arguments: 200...230)
    func graphsOfChildContextsStayWhole(seed: UInt64) throws {
        var walk = try Walk(seed: seed, kind: .memory, isNested: true)
        try walk.run(steps: 120)
    }

    @Test(arguments: 100...112)
    func sqliteGraphsStayWhole(seed: UInt64) throws {
        var walk = try Walk(seed: seed, kind: .sqlite)
        try walk.run(steps: 120)
    }
}

/// A generator whose numbers follow from its seed.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

private struct Walk {
    private var random: Seeded
    private let bench: Bench
    private let context: NSManagedObjectContext
    private var count = 0
    private let seed: UInt64
    private static let entities = [
        "Person", "Employee", "Department", "Passport", "Project", "Playlist", "Song", "Tag",
    ]
    /// Links that may stay behind when their target is deleted.
    private static let loose: Set<String> = ["owner"]

    init(seed: UInt64, kind: StoreKind, isNested: Bool = false) throws {
        random = Seeded(state: seed)
        self.seed = seed
        bench = try Bench(kind)
        if isNested {
            context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.parent = bench.context
        } else {
            context = bench.context
        }
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }

    mutating func run(steps: Int) throws {
        for _ in 0..<12 { try insert() }
        for _ in 0..<steps { try step() }
        try save()
    }

    private mutating func step() throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<3: try insert()
        case 3: if let object = try any() { context.delete(object) }
        case 4, 5: try save()
        case 6: context.rollback()
        case 7: context.refreshAllObjects()
        case 8:
            // With unsaved changes, dropping one end of a link would be asked for.
            if let object = try any(), !object.hasChanges {
                context.refresh(object, mergeChanges: false)
            }
        default: try link()
        }
        if Int.random(in: 0..<12, using: &random) == 0 { try save() }
        try checkEnds()
    }

    private mutating func insert() throws {
        let name = Self.entities.randomElement(using: &random) ?? "Person"
        count += 1
        try bench.make(name, "\(count)", in: context)
    }

    private func all(_ entity: String? = nil) throws -> [NSManagedObject] {
        let names = entity.map { [$0] } ?? Self.entities.filter { $0 != "Employee" }
        return try names.flatMap { name in
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request)
        }
    }

    private mutating func any(_ entity: String? = nil) throws -> NSManagedObject? {
        try all(entity).randomElement(using: &random)
    }

    private mutating func link() throws {
        guard let object = try any() else { return }
        let relationships = object.entity.relationshipsByName.sorted { $0.key < $1.key }
        guard let (key, relationship) = relationships.randomElement(using: &random),
            let entity = relationship.destinationEntity?.name, entity != "Account"
        else { return }
        let others = try all(entity).shuffled(using: &random)
        let size = Int.random(in: 0...min(3, others.count), using: &random)
        if relationship.isToMany {
            let chosen = Array(others.prefix(size))
            object.setValue(
                relationship.isOrdered ? NSOrderedSet(array: chosen) : Set(chosen), forKey: key)
        } else {
            object.setValue(size == 0 ? nil : others.first, forKey: key)
        }
    }

    private mutating func save() throws {
        do {
            try context.save()
            try context.parent?.save()
        } catch let error as NSError where error.code == NSValidationRelationshipDeniedDeleteError {
            context.rollback()
            return
        } catch let error as NSError where error.code == NSValidationMultipleErrorsError {
            context.rollback()
            return
        }
        let here = try picture(context)
        let fresh = try picture(bench.newContext())
        #expect(here == fresh, "seed \(seed)")
        try checkEnds()
    }

    /// Each object's links as text. One-way members may have moved to another owner at the save.
    private func picture(_ context: NSManagedObjectContext) throws -> [String: String] {
        var picture: [String: String] = [:]
        for name in Self.entities where name != "Employee" {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) {
                for (key, relationship) in object.entity.relationshipsByName
                where relationship.inverseRelationship != nil && !Self.loose.contains(key) {
                    let members = names(object, key)
                    let text = relationship.isOrdered ? members : members.sorted()
                    picture["\(title(object)).\(key)"] = text.joined(separator: " ")
                }
            }
        }
        return picture
    }

    private func title(_ object: NSManagedObject) -> String {
        object.value(forKey: "name") as? String ?? "?"
    }

    private func members(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
        switch object.value(forKey: key) {
        case let one as NSManagedObject: [one]
        case let set as Set<NSManagedObject>: Array(set)
        case let ordered as NSOrderedSet: ordered.array as? [NSManagedObject] ?? []
        default: []
        }
    }

    private func names(_ object: NSManagedObject, _ key: String) -> [String] {
        members(object, key).map(title)
    }

    private func checkEnds() throws {
        for object in try all() {
            for (key, relationship) in object.entity.relationshipsByName {
                guard let inverse = relationship.inverseRelationship, !Self.loose.contains(key),
                    !Self.loose.contains(inverse.name)
                else { continue }
                for member in members(object, key) {
                    #expect(
                        members(member, inverse.name).contains { $0 === object },
                        "seed \(seed): \(title(object)).\(key) → \(title(member))")
                }
            }
        }
    }
}
