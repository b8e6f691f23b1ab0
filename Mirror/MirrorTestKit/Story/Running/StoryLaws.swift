internal import MirrorEngine
internal import ObjectModel
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// The laws of MERGE.md, checked on a story that came to rest. Each finding is one sentence.
struct StoryLaws {
    let world: StoryWorld
    let memory: StoryMemory

    private var handles: [String] { world.objects.handles }

    func check() throws -> [String] {
        let graphs = try world.devices.map { ($0.name, try world.graph(of: $0)) }
        guard let (first, graph) = graphs.first else { return [] }
        var broken: [String] = []
        for (name, other) in graphs.dropFirst() {
            broken += graph.differences(from: other, named: (first, name), handles)
        }
        broken += graph.differences(
            from: try world.serviceGraph(), named: (first, "the service"), handles)
        broken += try world.devices.flatMap(isClean)
        broken += oneSided(graph)
        guard !world.story.losesTime else { return Array(broken.prefix(Self.shown)) }
        broken += objectsHold(graph)
        broken += try valuesHold(graph)
        return Array(broken.prefix(Self.shown))
    }

    private static let shown = 8

    /// Nothing waits, nothing is refused, and the file is whole.
    private func isClean(_ device: ManagedDevice) throws -> [String] {
        let status = try device.mirrored.status()
        var broken: [String] = []
        if let pending = status?.pending, pending.total != 0 {
            broken.append("\(device.name) has \(pending.total) records that wait for ever.")
        }
        if let refusal = status?.refusals.first {
            broken.append("The service refused a record of \(device.name): \(refusal.reason)")
        }
        try device.mirrored.store.read { store in
            let check = try store.connection.pragma("quick_check")
            if check != "ok" { broken.append("The file of \(device.name) is damaged.") }
        }
        return broken
    }

    /// One-to-one links that are not answered.
    private func oneSided(_ graph: HeldGraph) -> [String] {
        guard let model = world.devices.first?.setting.model else { return [] }
        return graph.objects.sorted { $0.key < $1.key }.flatMap { key, object -> [String] in
            let relationships = model.entitiesByName[object.entity]?.relationshipsByName ?? [:]
            return object.properties.sorted { $0.key < $1.key }.compactMap { name, property in
                guard case .link(let target?) = property,
                    let inverse = relationships[name]?.inverseRelationship, !inverse.isToMany,
                    case .link(let back)? = graph.objects[target]?.properties[inverse.name],
                    back != key
                else { return nil }
                let handle = graph.handles(of: key, among: handles).first ?? key
                return "\(handle).\(name) is not answered by its other end."
            }
        }
    }

    // MARK: What was saved

    private func mayMerge(_ entity: String) -> Bool {
        let layout = world.devices.first?.mirrored.settings.mapping.layout
        return layout?.entity(named: entity)?.isKeyed ?? false
    }

    /// Whether deleting an object may take others along, so that they need not be there.
    private var cascades: Bool {
        world.story.models.values.flatMap(\.entities).contains { entity in
            entity.relationshipsByName.values.contains { $0.deleteRule == .cascadeDeleteRule }
        }
    }

    private func objectsHold(_ graph: HeldGraph) -> [String] {
        memory.made.sorted { $0.key < $1.key }.compactMap { handle, entity in
            guard !mayMerge(entity) else { return nil }
            let isThere = graph.keys[handle] != nil
            if !memory.deleted.contains(handle), !isThere {
                return cascades ? nil : "The object \(handle) was saved and is lost."
            }
            if memory.deleted.contains(handle), isThere,
                !world.devices.contains(where: { $0.setting.policy.deletion == .keepEdited })
            {
                return "The object \(handle) was deleted and came back."
            }
            return nil
        }
    }

    /// Whether any device adds to an attribute: each has a policy of its own.
    private func isCounter(
        _ attribute: NSAttributeDescription, _ property: String, of entity: String
    ) -> Bool {
        world.devices.contains { device in
            let layout = ModelLayout(model: device.setting.model)
            return CounterRules(device.setting.policy, layout)
                .include(attribute, property, of: entity)
        }
    }

    /// A value that is not there was replaced by somebody who had seen it, or is in a log.
    private func valuesHold(_ graph: HeldGraph) throws -> [String] {
        var logged: Set<String> = []
        for device in world.devices {
            for entry in try device.mirrored.conflicts() {
                guard let handle = world.objects.handle(named: entry.recordName) else { continue }
                logged.insert("\(handle).\(entry.property)")
            }
        }
        return memory.writes.sorted { $0.key < $1.key }.compactMap { text, known in
            guard let entity = memory.made[known.property.handle], !mayMerge(entity),
                let attribute = world.devices.first?.setting.model.entitiesByName[entity]?
                    .attributesByName[known.property.name],
                !isCounter(attribute, known.property.name, of: entity),
                !memory.decided.contains(text), !logged.contains(text),
                case .value(let value, let type)? = graph.property(known.property)
            else { return nil }
            let lost = memory.heads(of: text).subtracting([value])
            guard let example = lost.first, !memory.heads(of: text).isEmpty else { return nil }
            return "\(text) is \(StoryValue.text(value, type)); "
                + "\(StoryValue.text(example, type)) was saved too, and is in no log."
        }
    }
}
