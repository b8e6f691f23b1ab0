import CoreData
import Foundation

/// A generator whose numbers follow from its seed.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// Random objects of the test model, linked in every way it knows.
struct SampleGraph {
    private var random: SeededNumbers
    private let context: NSManagedObjectContext
    private var objects: [String: [NSManagedObject]] = [:]

    init(seed: UInt64, context: NSManagedObjectContext) {
        random = SeededNumbers(seed)
        self.context = context
    }

    mutating func fill() throws {
        let names = [
            "Person", "Employee", "Department", "Passport", "Project", "Playlist", "Song", "Tag",
        ]
        for name in names {
            for index in 0..<Int.random(in: 3...7, using: &random) {
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                object.setValue("\(name) \(index)", forKey: "name")
                objects[name, default: []].append(object)
            }
        }
        for person in people { fill(person) }
        for name in names {
            for object in objects[name] ?? [] { link(object) }
        }
        try context.save()
    }

    private var people: [NSManagedObject] {
        (objects["Person"] ?? []) + (objects["Employee"] ?? [])
    }

    private mutating func fill(_ person: NSManagedObject) {
        let seconds = Double.random(in: -900_000...900_000_000, using: &random)
        person.setValue(Int.random(in: 0...150, using: &random), forKey: "age")
        person.setValue("a\(random.next())@example.org", forKey: "email")
        person.setValue(Date(timeIntervalSinceReferenceDate: seconds), forKey: "birthday")
        person.setValue(Double.random(in: -1...1, using: &random), forKey: "score")
        person.setValue(Bool.random(using: &random), forKey: "active")
        let word = random.next()
        person.setValue(
            UUID(uuidString: String(format: "00000000-0000-4000-8000-%012x", word >> 16)),
            forKey: "key")
        person.setValue(Data("<&>\u{0} \(word)".utf8), forKey: "photo")
        person.setValue(URL(string: "https://example.org/?q=\(word)&r=1"), forKey: "site")
        person.setValue(NSDecimalNumber(string: "\(word % 1_000_000).25"), forKey: "balance")
        person.setValue(["red", "\(word)"], forKey: "colors")
        if person.entity.name == "Employee" {
            person.setValue(Int32.random(in: .min ... .max, using: &random), forKey: "salary")
        }
    }

    private mutating func link(_ object: NSManagedObject) {
        for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }
        ) {
            guard Int.random(in: 0..<3, using: &random) > 0 else { continue }
            let wanted = relationship.destinationEntity?.name ?? ""
            let choice = wanted == "Person" ? people : objects[wanted] ?? []
            guard let first = choice.randomElement(using: &random) else { continue }
            guard relationship.isToMany else {
                object.setValue(first, forKey: name)
                continue
            }
            let some = Array(choice.shuffled(using: &random).prefix(3))
            object.setValue(
                relationship.isOrdered ? NSOrderedSet(array: some) : Set(some) as Any, forKey: name)
        }
    }

    /// All objects with their values and links, by name: equal for equal graphs whatever the keys.
    static func image(_ context: NSManagedObjectContext) throws -> [String] {
        let model = context.persistentStoreCoordinator?.managedObjectModel
        return try (model?.entities ?? []).flatMap { entity -> [String] in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            return try context.fetch(request).map(line)
        }.sorted()
    }

    private static func line(_ object: NSManagedObject) -> String {
        func name(_ value: Any?) -> String {
            (value as? NSManagedObject)?.value(forKey: "name") as? String ?? "-"
        }
        let properties = object.entity.propertiesByName.sorted { $0.key < $1.key }
        let texts = properties.map { key, property -> String in
            let value = object.value(forKey: key)
            guard let relationship = property as? NSRelationshipDescription else {
                return "\(key)=\(value.map { "\($0)" } ?? "nil")"
            }
            guard relationship.isToMany else { return "\(key)=\(name(value))" }
            if let ordered = value as? NSOrderedSet {
                return "\(key)=\(ordered.array.map { name($0) })"
            }
            return "\(key)=\(((value as? Set<NSManagedObject>) ?? []).map { name($0) }.sorted())"
        }
        return "\(object.entity.name ?? "") \(texts.joined(separator: " "))"
    }
}
