internal import MirrorEngine
internal import ObjectModel
internal import Stores

/// What the devices saved, as plain facts by record name: the oracle of the laws.
struct EditMemory {
    struct Property: Hashable {
        let recordName: String
        let name: String
    }

    private(set) var alive: Set<String> = []
    private(set) var dead: Set<String> = []
    /// Which devices ever wrote a property, and what was written last.
    private(set) var writers: [Property: Set<String>] = [:]
    private(set) var lastValue: [Property: AttributeValue] = [:]
    /// What all counts of an object's counter come to.
    private(set) var counts: [String: Int64] = [:]

    static func isCounter(_ attribute: NSAttributeDescription) -> Bool {
        attribute.userInfo?[MergePolicy.userInfoKey] as? String == MergeRule.counter.name
    }

    mutating func created(_ name: String, entity: EntityLayout, row: Row, by device: String) {
        alive.insert(name)
        for (slot, attribute) in entity.attributes.enumerated() {
            if Self.isCounter(attribute.attribute) {
                if case .integer(let value) = row.attributes[slot] { counts[name] = value }
            } else {
                changed(name, attribute.name, to: row.attributes[slot], by: device)
            }
        }
    }

    mutating func changed(
        _ name: String, _ property: String, to value: AttributeValue, by device: String
    ) {
        let key = Property(recordName: name, name: property)
        writers[key, default: []].insert(device)
        lastValue[key] = value
    }

    mutating func counted(_ name: String, _ added: Int64) { counts[name, default: 0] += added }

    mutating func deleted(_ name: String) {
        alive.remove(name)
        dead.insert(name)
    }
}
