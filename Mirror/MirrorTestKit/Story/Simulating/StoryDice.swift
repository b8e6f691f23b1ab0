public import MirrorEngine
public import ObjectModel
internal import Stores

/// Of what random stories over a model are made.
public struct StoryDice: Sendable {
    /// What may go wrong in a story.
    public enum Fault: String, CaseIterable, Sendable {
        case lostRequest, lostAnswer, crash, crashAfterSending, offline, clock
        case restore, copy, reset, serviceRestore, serviceLoss, zoneLoss

        /// Those that take something back in time, so that what was saved need not be there.
        public static let losingTime: Set<Fault> = [
            .restore, .copy, .serviceRestore, .serviceLoss, .zoneLoss,
        ]
    }

    public var devices = 2
    /// Lines of a story before everything comes to rest.
    public var steps = 30
    public var policy = MergePolicy()
    public var faults: Set<Fault> = Set(Fault.allCases).subtracting(Fault.losingTime)

    /// Two devices, thirty lines, all faults but those that lose time.
    public init() {}
}

/// A random story over a model: objects of all its entities, every property that a story can write.
///
/// The same seed makes the same story.
public struct StoryGenerator {
    private let model: NSManagedObjectModel
    private let dice: StoryDice
    private let randomness: SeededRandomness
    private let values: ValueGenerator
    private let counters: CounterRules
    private var devices: [String] = []
    private var objects: [(handle: String, entity: NSEntityDescription)] = []
    private var backups: Set<String> = []

    /// Prepares the dice. `model` is not changed any more.
    public init(model: NSManagedObjectModel, dice: StoryDice, seed: UInt64) {
        model.freeze()
        self.model = model
        self.dice = dice
        counters = CounterRules(dice.policy, ModelLayout(model: model))
        randomness = SeededRandomness(seed: seed &* 6_364_136_223_846_793_005 &+ 1)
        values = ValueGenerator(randomness: randomness, keysCount: 3)
    }

    /// What of the model stories leave out, and why, in sentences.
    public static func leftOut(of model: NSManagedObjectModel) -> [String] {
        model.entities.flatMap { entity -> [String] in
            entity.attributesByName.values.sorted { $0.name < $1.name }.compactMap { attribute in
                guard !attribute.isPlain, !attribute.isTransient,
                    !(attribute is NSDerivedAttributeDescription)
                else { return nil }
                return "\(entity.name ?? "").\(attribute.name): a story cannot write its type."
            }
        }
    }

    /// Throws the dice. Returns the whole story, without expectations.
    public mutating func story(title: String) -> Story {
        devices = (0..<max(1, dice.devices)).map { "D\($0 + 1)" }
        var story = Story(
            title: title, model: model, devices: devices.map(StoryDevice.init),
            policy: dice.policy)
        for _ in 0..<dice.steps {
            guard let device = randomness.pick(devices), let action = action(on: device) else {
                continue
            }
            story.steps.append(StoryStep(action))
        }
        return story
    }

    private mutating func action(on device: String) -> StoryAction? {
        switch randomness.below(100) {
        case ..<22: return insert(on: device)
        case ..<44: return set(on: device)
        case ..<54: return link(on: device)
        case ..<60: return randomness.pick(objects).map { .device([device], .delete($0.handle)) }
        case ..<85: return .device([device], .sync)
        case ..<88: return .pass(seconds: Double(1 + randomness.below(7_200)))
        default: return fault(on: device)
        }
    }

    // MARK: Edits

    private mutating func insert(on device: String) -> StoryAction? {
        let concrete = model.entities.filter { !$0.isAbstract }.sorted {
            ($0.name ?? "") < ($1.name ?? "")
        }
        guard let entity = randomness.pick(concrete) else { return nil }
        let handle = "o\(objects.count + 1)"
        var given: [StoryAssignment] = []
        for attribute in Self.attributes(of: entity)
        where !attribute.isOptional || randomness.chance(percent: 60) {
            given.append(StoryAssignment(attribute.name, literal(for: attribute)))
        }
        for relationship in Self.relationships(of: entity) where !relationship.isToMany {
            guard !relationship.isOptional || randomness.chance(percent: 40),
                let target = target(of: relationship)
            else { continue }
            given.append(StoryAssignment(relationship.name, .word(target)))
        }
        objects.append((handle, entity))
        return .device(
            [device], .insert(entity: entity.name ?? "", handle: handle, values: given))
    }

    private static func attributes(of entity: NSEntityDescription) -> [NSAttributeDescription] {
        entity.attributesByName.values.filter(\.isPlain).sorted { $0.name < $1.name }
    }

    private static func relationships(
        of entity: NSEntityDescription
    ) -> [NSRelationshipDescription] {
        entity.relationshipsByName.values.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    }

    /// A value that the attribute takes. A required one is never nothing.
    private func literal(for attribute: NSAttributeDescription) -> StoryLiteral {
        for _ in 0..<4 {
            let value = values.value(for: attribute)
            if value != .null { return StoryValue.literal(value, attribute.attributeType) }
            if attribute.isOptional { return .nothing }
        }
        return .word("0")
    }

    private func target(of relationship: NSRelationshipDescription) -> String? {
        guard let wanted = relationship.destinationEntity else { return nil }
        return randomness.pick(objects.filter { $0.entity.isKindOf(entity: wanted) })?.handle
    }

    private func set(on device: String) -> StoryAction? {
        guard let (handle, entity) = randomness.pick(objects),
            let attribute = randomness.pick(Self.attributes(of: entity))
        else { return nil }
        let property = StoryProperty(handle, attribute.name)
        if counters.include(attribute, attribute.name, of: entity.name ?? "") {
            return .device([device], .add([.word("\(1 + randomness.below(3))")], property))
        }
        return .device([device], .set(property, literal(for: attribute)))
    }

    private func link(on device: String) -> StoryAction? {
        guard let (handle, entity) = randomness.pick(objects),
            let relationship = randomness.pick(Self.relationships(of: entity)),
            let target = target(of: relationship), target != handle
        else { return nil }
        let property = StoryProperty(handle, relationship.name)
        guard relationship.isToMany else {
            let isCleared = relationship.isOptional && randomness.chance(percent: 20)
            return .device([device], .set(property, isCleared ? .nothing : .word(target)))
        }
        switch randomness.below(relationship.isOrdered ? 4 : 3) {
        case 0: return .device([device], .remove([target], property))
        case 3:
            let place: StoryPlace = randomness.chance(percent: 50) ? .start : .end
            return .device([device], .move(target, place, property))
        default: return .device([device], .add([.word(target)], property))
        }
    }

    // MARK: Faults

    private mutating func fault(on device: String) -> StoryAction? {
        let known = StoryDice.Fault.allCases.filter { dice.faults.contains($0) }
        guard let fault = randomness.pick(known) else { return nil }
        switch fault {
        case .lostRequest: return .device([device], .loseNextRequest)
        case .lostAnswer: return .device([device], .loseNextAnswer)
        case .crash: return .device([device], .crash)
        case .crashAfterSending: return .device([device], .crashInNextSync)
        case .offline:
            let goes = randomness.chance(percent: 50)
            return .device([device], goes ? .goOffline : .comeOnline)
        case .clock:
            let seconds = Double(randomness.among(-3_600...3_600))
            return .device([device], .setClock(seconds: seconds))
        case .reset: return .device([device], .reset)
        case .restore:
            if backups.insert(device).inserted { return .device([device], .backUp) }
            return .device([device], .restore)
        case .copy:
            guard let other = randomness.pick(devices.filter { $0 != device }) else { return nil }
            return .device([device], .becomeCopy(of: other))
        case .serviceRestore:
            if backups.insert("the service").inserted { return .service(.backUp) }
            return .service(.restore)
        case .serviceLoss: return .service(.lose)
        case .zoneLoss: return .service(.deleteZone)
        }
    }
}
