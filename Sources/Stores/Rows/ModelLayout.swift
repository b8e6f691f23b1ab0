public import ObjectModel
internal import Synchronization

/// The layouts of all entities of a store, by number and by name. Each is made when it is asked for
/// first. Queue: any.
public final class ModelLayout: Sendable {
    /// The model it was made of, which must not change any more.
    public let model: NSManagedObjectModel
    /// In order of their numbers, each of which is there once.
    private let places: [Place]
    private let byName: [String: Place]
    private let all = AtomicLazyReference<Layouts>()

    /// An entity of the store.
    private final class Place: Sendable {
        let entity: NSEntityDescription
        let name: String
        let number: Int32
        private let made = AtomicLazyReference<EntityLayout>()

        init(_ entity: NSEntityDescription, _ name: String, _ number: Int32) {
            self.entity = entity
            self.name = name
            self.number = number
        }

        var layout: EntityLayout {
            made.load() ?? made.storeIfNil(EntityLayout(entity: entity, number: number))
        }
    }

    private final class Layouts: Sendable {
        let list: [EntityLayout]
        init(_ list: [EntityLayout]) { self.list = list }
    }

    /// Layouts for the entities of `configuration` (nil: all), numbered by `numbers`, or afresh by
    /// the rule of `EntityNumbering`.
    public convenience init(
        model: NSManagedObjectModel, configuration: String? = nil, numbers: [String: Int32]? = nil
    ) {
        let members = model.entities(forConfigurationName: configuration) ?? []
        let numbering = numbers ?? EntityNumbering.numbers(for: members)
        let places = members.compactMap { entity in
            let name = entity.name ?? ""
            return numbering[name].map { Place(entity, name, $0) }
        }
        self.init(model, places)
    }

    private init(_ model: NSManagedObjectModel, _ places: [Place]) {
        self.model = model
        self.places = Self.inOrder(places)
        var byName: [String: Place] = [:]
        byName.reserveCapacity(places.count)
        for place in places where byName[place.name] == nil { byName[place.name] = place }
        self.byName = byName
    }

    /// Of several with one number the first.
    private static func inOrder(_ places: [Place]) -> [Place] {
        // Mostly they are: entities are numbered in the order of their names.
        var isSorted = true
        for index in places.indices.dropFirst()
        where places[index - 1].number >= places[index].number { isSorted = false }
        if isSorted { return places }
        var sorted: [Place] = []
        for place in places.sorted(by: { $0.number < $1.number })
        where sorted.last?.number != place.number { sorted.append(place) }
        return sorted
    }

    private func place(_ number: Int32) -> Place? {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low].number == number ? places[low] : nil
    }

    /// The same layouts, of those entities alone that have one of `numbers`.
    package func keeping(_ numbers: Set<Int32>) -> ModelLayout {
        ModelLayout(model, places.filter { numbers.contains($0.number) })
    }

    /// In order of their numbers. Cost: makes what was not asked for yet.
    public var entities: [EntityLayout] {
        if let known = all.load() { return known.list }
        return all.storeIfNil(Layouts(places.map(\.layout))).list
    }

    /// The entity with the store's number; nil where the store has none.
    public func entity(_ number: Int32) -> EntityLayout? { place(number)?.layout }
    /// The entity with the model's name; nil where the store has none.
    public func entity(named name: String) -> EntityLayout? { byName[name]?.layout }

    // MARK: Without layouts

    /// How many entities there are.
    public var count: Int { places.count }

    /// The entities with their numbers, in the order of these.
    package var members: [(entity: NSEntityDescription, number: Int32)] {
        places.map { ($0.entity, $0.number) }
    }

    /// The number of an entity, or of the one of its name.
    package func number(of entity: NSEntityDescription) -> Int32? {
        entity.name.flatMap { byName[$0]?.number }
    }

    /// The number of the first ancestor of an entity, itself included, whose parent is not here.
    package func root(of number: Int32) -> Int32 {
        guard var place = place(number) else { return number }
        while let parent = place.entity.superentity?.name.flatMap({ byName[$0] }) { place = parent }
        return place.number
    }

    /// The numbers of the entity and of all that inherit from it.
    public func family(of layout: EntityLayout) -> [Int32] {
        places.filter { $0.entity.isKindOf(entity: layout.entity) }.map(\.number)
    }
}
