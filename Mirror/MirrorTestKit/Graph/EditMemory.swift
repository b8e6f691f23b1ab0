internal import ObjectModel
internal import Stores

/// What the devices saved, as plain facts by record name: the oracle of the laws.
struct EditMemory {
    struct Property: Hashable {
        let recordName: String
        let name: String
    }

    /// One save of one property.
    struct Write {
        let device: String
        let value: AttributeValue
        /// What the device had there before; nil when it made the object.
        let previous: AttributeValue?
        /// The device may have shown nothing there where others saw a value.
        var wasHidden = false
        let time: WriteTime
    }

    private(set) var alive: Set<String> = []
    private(set) var dead: Set<String> = []
    /// Names of objects whose deletion was undone: they are there under these names or others.
    private(set) var undone: Set<String> = []
    private(set) var entities: [String: Int32] = [:]
    private(set) var writes: [Property: [Write]] = [:]
    /// Properties of which somebody decided a conflict.
    var decided: Set<Property> { takenBack.decided }
    var takenBack = TakenBackMemory()
    var authors = AuthorMemory()
    /// What somebody saved again as it was: a later time, and no other value.
    private(set) var savedAgain: Set<Property> = []
    /// What all counts of an integer come to. Counters of other types are not here: their counts
    /// have no names, so that it is not certain what lost answers make of them.
    private(set) var counts: [Property: Int64] = [:]
    var keys = KeyMemory()
    var places = PlaceMemory()
    var pairs = PairMemory()

    mutating func created(
        _ name: String, entity: EntityLayout, row: Row, _ counters: CounterRules,
        by device: String, at time: WriteTime
    ) {
        alive.insert(name)
        entities[name] = entity.number
        for (slot, attribute) in entity.attributes.enumerated() {
            let value = row.attributes[slot]
            let property = Property(recordName: name, name: attribute.name)
            if counters.include(attribute, of: entity) {
                if case .integer(let value) = value { counts[property] = value }
            } else if !(attribute.attribute is NSDerivedAttributeDescription) {
                writes[property] = [
                    Write(device: device, value: value, previous: nil, time: time)
                ]
            }
        }
    }

    mutating func changed(_ name: String, _ property: String, _ write: Write) {
        let property = Property(recordName: name, name: property)
        authors.edited(name, property.name, by: write.device)
        guard write.previous != write.value else {
            savedAgain.insert(property)
            return
        }
        writes[property, default: []].append(write)
    }

    mutating func counted(
        _ name: String, _ property: String, _ added: Int64, by device: String
    ) {
        authors.edited(name, property, by: device)
        counts[Property(recordName: name, name: property), default: 0] += added
    }

    mutating func decided(_ name: String, _ property: String) {
        takenBack.decided.insert(Property(recordName: name, name: property))
    }

    mutating func deleted(_ name: String, _ deletion: AuthorMemory.Deletion) {
        alive.remove(name)
        dead.insert(name)
        authors.deleted(name, deletion)
        takenBack.deletedAgain(name, by: deletion.device)
    }

    /// A device has an object again as the service has it: what it had saved of it may be nowhere.
    mutating func tookBackEdit(of name: String) {
        takenBack.objects.insert(name)
        forgetValues(of: name)
    }

    /// A device has an object again that the service did not let it delete. It is there unless
    /// another deleted it, too.
    mutating func tookBackDeletion(of name: String, on device: String) {
        tookBackEdit(of: name)
        takenBack.tookBackDeletion(of: name, on: device)
        let deleters = Set((authors.deletions[name] ?? []).map(\.device))
        guard deleters.isSubset(of: takenBack.devices(of: name)) else { return }
        dead.remove(name)
        if entities[name] != nil { alive.insert(name) }
    }

    /// The object goes on under another name, or never was sent.
    mutating func letGo(_ name: String) {
        alive.remove(name)
        tookBackEdit(of: name)
    }

    /// What was edited since something was taken back is remembered by halves.
    mutating func forgetTakenBack() {
        for name in takenBack.objects { forgetValues(of: name) }
    }

    private mutating func forgetValues(of name: String) {
        for (property, writes) in writes where property.recordName == name {
            takenBack.replaced[property.name, default: []] += writes.compactMap(\.previous)
        }
        counts = counts.filter { $0.key.recordName != name }
        writes = writes.filter { $0.key.recordName != name }
    }

    mutating func undone(_ name: String) {
        alive.remove(name)
        dead.remove(name)
        undone.insert(name)
        forgetValues(of: name)
    }

    // MARK: Asking

    /// What was written before a deletion that was undone is not remembered.
    func isWrittenByOne(_ property: Property) -> Bool {
        Set((writes[property] ?? []).map(\.device)).count == 1 && !decided.contains(property)
            && !undone.contains(property.recordName)
            && !takenBack.objects.contains(property.recordName)
    }

    /// The writes of a property when each was made by a device that saw the one before; nil
    /// otherwise, and where values repeat so that this cannot be told.
    func chain(of property: Property) -> [Write]? {
        guard let writes = writes[property], !decided.contains(property), let first = writes.first,
            first.previous == nil, Set(writes.map(\.value)).count == writes.count
        else { return nil }
        for (before, write) in zip(writes, writes.dropFirst()) {
            guard write.previous == before.value, !write.wasHidden else { return nil }
        }
        return writes
    }

    /// The values of a property that nobody replaced who had seen them.
    func heads(of property: Property) -> Set<AttributeValue> {
        let writes = writes[property] ?? []
        return Set(writes.map(\.value)).subtracting(writes.compactMap(\.previous))
    }
}

/// What devices took back: what they had saved of it is not what must be there.
struct TakenBackMemory {
    /// Says when something is taken back: a stream of its own, so that a seed is the same world
    /// without.
    var dice = SeededRandomness(seed: 0)
    /// The objects that are as the service had them, or went on under other names.
    fileprivate(set) var objects: Set<String> = []
    fileprivate(set) var decided: Set<EditMemory.Property> = []
    /// By property, what was replaced by values that are forgotten.
    fileprivate(set) var replaced: [String: [AttributeValue]] = [:]
    private var deletions: [String: Set<String>] = [:]

    fileprivate mutating func tookBackDeletion(of name: String, on device: String) {
        deletions[name, default: []].insert(device)
    }

    fileprivate mutating func deletedAgain(_ name: String, by device: String) {
        deletions[name]?.remove(device)
    }

    /// The devices that took their last deletion of the object back.
    fileprivate func devices(of name: String) -> Set<String> { deletions[name] ?? [] }
}

/// When a device saved something, by its own clock.
struct WriteTime {
    let milliseconds: Int64
    /// The device had seen no edit of a later time, so that its clock alone says when it was.
    let isByClock: Bool
}

/// Which objects were made with which unique key.
struct KeyMemory {
    struct Key: Hashable {
        let entity: String
        let property: String
        let value: AttributeValue
    }

    private(set) var makers: [Key: Set<String>] = [:]
    /// Objects that had a key at any time.
    private(set) var holders: [Key: Set<String>] = [:]
    /// Keys of objects that were deleted or got another key.
    private(set) var spoiled: Set<Key> = []
    /// Objects that another user than the owner made.
    private(set) var guests: Set<String> = []

    mutating func made(_ name: String, with key: Key, byGuest: Bool) {
        makers[key, default: []].insert(name)
        if byGuest { guests.insert(name) }
        took(name, key)
    }

    mutating func took(_ name: String, _ key: Key) { holders[key, default: []].insert(name) }
    mutating func spoil(_ key: Key) { spoiled.insert(key) }
}

/// Where members were put in ordered lists.
struct PlaceMemory {
    struct Place: Hashable {
        let member: String
        let device: String
        let key: Int64
    }

    /// By owner and relationship.
    private(set) var lists: [String: [Place]] = [:]

    mutating func put(_ member: String, in list: String, at key: Int64, by device: String) {
        lists[list, default: []].append(Place(member: member, device: device, key: key))
    }

    /// How often each member was put anywhere.
    var moves: [String: Int] {
        lists.values.joined().reduce(into: [:]) { $0[$1.member, default: 0] += 1 }
    }
}

/// Who added and removed pairs, by the pair's text in a `DeviceImage`.
struct PairMemory {
    struct PairHistory {
        var adders: [String] = []
        var removals = 0
        let ends: [String]
    }

    private(set) var histories: [String: PairHistory] = [:]

    mutating func changed(_ pair: String, ends: [String], isAdding: Bool, by device: String) {
        var history = histories[pair] ?? PairHistory(ends: ends)
        if isAdding { history.adders.append(device) } else { history.removals += 1 }
        histories[pair] = history
    }

    /// Pairs that two devices added.
    var twins: Int { histories.values.count { Set($0.adders).count > 1 } }
}
