internal import Stores

/// What a story's devices saved, as plain facts by handle: the oracle of its laws.
struct StoryMemory {
    /// One save of one property.
    struct Write {
        let device: String
        let value: AttributeValue
        /// What the device had there before; nil when it made the object.
        let previous: AttributeValue?
    }

    private(set) var made: [String: String] = [:]
    private(set) var deleted: Set<String> = []
    private(set) var writes: [String: (property: StoryProperty, writes: [Write])] = [:]
    private(set) var decided: Set<String> = []

    mutating func note(_ facts: [StoryEditing.Fact], by device: String) {
        for fact in facts {
            switch fact {
            case .made(let handle, let entity): made[handle] = entity
            case .deleted(let handle): deleted.insert(handle)
            case .wrote(let property, let value, let previous):
                guard previous != value else { continue }
                var known = writes[property.text] ?? (property, [])
                known.writes.append(Write(device: device, value: value, previous: previous))
                writes[property.text] = known
            }
        }
    }

    mutating func decided(_ property: StoryProperty) { decided.insert(property.text) }

    /// The values of a property that nobody replaced who had seen them.
    func heads(of property: String) -> Set<AttributeValue> {
        let writes = writes[property]?.writes ?? []
        return Set(writes.map(\.value)).subtracting(writes.compactMap(\.previous))
    }
}
