internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Stores

/// Looks whether what a story expects is so.
struct StoryVerdict {
    let world: StoryWorld
    let graphs: [String: HeldGraph]
    let refusal: String?
    let told: [String]

    private var handles: [String] { world.objects.handles }

    /// Why it is not so; nil where it is.
    func failure(of expectation: StoryExpectation) throws -> String? {
        switch expectation.fact {
        case .value(let property, let values):
            return try each(expectation) { try value(of: property, values, $0, $1) }
        case .isThere(let names):
            return try each(expectation) { holder, graph in
                names.first { graph.keys[$0] == nil }.map { "\(holder) has no \($0)." }
            }
        case .isGone(let names):
            return try each(expectation) { holder, graph in
                names.first { graph.keys[$0] != nil }.map { "\(holder) has \($0)." }
            }
        case .isOne(let one, let other):
            return try each(expectation) { holder, graph in
                graph.keys[one] != nil && graph.keys[one] == graph.keys[other]
                    ? nil : "On \(holder) they are not one object."
            }
        case .count(let count, let entity):
            return try each(expectation) { self.count(count, of: entity, $0, $1) }
        case .agreement: return try agreement()
        case .inSync(let names, let isIn): return try standing(names, isIn)
        case .logged(let property, let handle, let rule):
            return try logged(property, handle, rule, expectation)
        case .nothingLogged: return try nothingLogged(expectation)
        case .waits(let property): return try waits(property, expectation)
        case .refused: return refusal == nil ? "Nothing was refused." : nil
        case .told(let words):
            if told.contains(where: { $0.contains(words) }) { return nil }
            return told.isEmpty ? "It told nothing." : "It told: \(told.joined(separator: " "))"
        }
    }

    /// The first failure among the holders that are meant, all devices where none are named.
    private func each(
        _ expectation: StoryExpectation, _ body: (String, HeldGraph) throws -> String?
    ) throws -> String? {
        let names = expectation.holders.isEmpty ? world.devices.map(\.name) : expectation.holders
        for name in names {
            let title = name == StoryExpectation.service ? "the service" : name
            if let failure = try body(title, graphs[name] ?? HeldGraph()) { return failure }
        }
        return nil
    }

    // MARK: What is held

    private func value(
        of property: StoryProperty, _ wanted: [StoryLiteral], _ holder: String, _ graph: HeldGraph
    ) throws -> String? {
        guard graph.keys[property.handle] != nil else {
            return "\(holder) has no \(property.handle)."
        }
        guard let held = graph.property(property) else {
            return "\(holder) has no \(property.text)."
        }
        let isSo: Bool
        switch held {
        case .value(let value, let type):
            guard let first = wanted.first, wanted.count == 1 else {
                throw StoryError("\(property.text) has one value.")
            }
            // As the holder's model has it: models may have it differently.
            isSo = try value == StoryValue.value(first, of: type, named: property.name)
        case .link(let key):
            isSo = keys(wanted, graph) == (key.map { [$0] } ?? [])
        case .members(let members, let isOrdered):
            let keys = keys(wanted, graph)
            isSo = isOrdered ? keys == members : Set(keys) == Set(members)
        }
        return isSo ? nil : "\(holder) has \(property.text) \(graph.text(held, handles))."
    }

    /// The objects that handles stand for; a handle of none stands for itself.
    private func keys(_ literals: [StoryLiteral], _ graph: HeldGraph) -> [String] {
        literals.compactMap { literal in
            switch literal {
            case .nothing: nil
            case .word(let handle), .text(let handle): graph.keys[handle] ?? handle
            }
        }
    }

    private func count(
        _ count: Int, of entity: String, _ holder: String, _ graph: HeldGraph
    ) -> String? {
        let model = world.model(of: holder)
        let found = model.map { graph.count(of: entity, in: $0) } ?? 0
        return found == count ? nil : "\(holder) has \(found) \(entity)."
    }

    /// The owner's devices hold what the service does, others' what it shows them. A device that
    /// chose what it sends is not asked.
    private func agreement() throws -> String? {
        for device in world.devices where !device.setting.place.seesAll {
            let shown = try device.waitsForShare ? HeldGraph() : world.sharedGraph(of: device)
            let lines = shown.differences(
                from: graphs[device.name] ?? HeldGraph(), named: ("the service", device.name),
                handles)
            if !lines.isEmpty { return lines.prefix(3).joined(separator: " ") }
        }
        let owners = world.devices.filter {
            $0.setting.place.seesAll && $0.setting.place.selection == nil
        }
        let names = owners.map(\.name) + [StoryExpectation.service]
        guard let first = names.first, let graph = graphs[first] else { return nil }
        for name in names.dropFirst() {
            let title = name == StoryExpectation.service ? "the service" : name
            let lines = graph.differences(
                from: graphs[name] ?? HeldGraph(), named: (first, title), handles)
            if !lines.isEmpty { return lines.prefix(3).joined(separator: " ") }
        }
        return nil
    }

    private func standing(_ names: [String], _ isIn: Bool) throws -> String? {
        for name in names {
            let status = try world.device(name).mirrored.status()
            guard (status?.isInSync ?? false) != isIn else { continue }
            return isIn
                ? "\(name) is not in sync: \(status?.lastError ?? "something waits.")"
                : "\(name) is in sync."
        }
        return nil
    }

    // MARK: The logs

    private func log(
        _ expectation: StoryExpectation
    ) throws -> [(device: String, entry: ConflictEntry)] {
        try world.devices.filter {
            expectation.holders.isEmpty || expectation.holders.contains($0.name)
        }.flatMap { device in try device.mirrored.conflicts().map { (device.name, $0) } }
    }

    private func logged(
        _ property: StoryProperty?, _ handle: String?, _ rule: String?,
        _ expectation: StoryExpectation
    ) throws -> String? {
        let names = world.objects.names(of: property?.handle ?? handle ?? "")
        let found = try log(expectation).contains { _, entry in
            names.contains(entry.recordName) && (property.map { $0.name == entry.property } ?? true)
                && (rule.map { $0 == entry.rule } ?? true)
        }
        return found ? nil : try "There is no such line" + inLogs(expectation)
    }

    private func inLogs(_ expectation: StoryExpectation) throws -> String {
        let lines = try log(expectation).map { device, entry in
            ConflictText(entry, world.objects).sentence(on: device)
        }
        return lines.isEmpty ? "; nothing was logged." : ": \(lines.joined(separator: "; "))."
    }

    private func nothingLogged(_ expectation: StoryExpectation) throws -> String? {
        guard let (device, entry) = try log(expectation).first else { return nil }
        return ConflictText(entry, world.objects).sentence(on: device) + "."
    }

    private func waits(
        _ property: StoryProperty, _ expectation: StoryExpectation
    ) throws -> String? {
        let names = world.objects.names(of: property.handle)
        let isWaiting = try log(expectation).contains { _, entry in
            names.contains(entry.recordName) && entry.property == property.name
                && entry.winner == "waiting"
        }
        return isWaiting ? nil : try "It does not wait" + inLogs(expectation)
    }
}
