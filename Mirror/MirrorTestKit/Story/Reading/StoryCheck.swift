internal import ObjectModel

/// Looks whether the names in a story are known, before anything is played.
struct StoryCheck {
    private let story: Story
    private var entities: [String: String] = [:]
    private var shares: Set<String> = []

    init(_ story: Story) { self.story = story }

    mutating func run() throws {
        for device in story.devices { try check(device) }
        for step in story.steps {
            do {
                try check(step)
            } catch let error as StoryError {
                throw error.at(step.line)
            }
        }
    }

    private func check(_ device: StoryDevice) throws {
        try checkModel(device.model)
        if device.user != nil, !story.isPublic, story.devices.allSatisfy({ $0.user != nil }) {
            throw StoryError(
                "All devices are other users'.",
                "Name those of the owner first, as 'devices Ann, Ben'.")
        }
        guard let other = device.sharedStore else { return }
        guard let owner = story.devices.first(where: { $0.name == other }),
            owner.name != device.name,
            owner.sharedStore == nil, owner.user == device.user
        else {
            throw StoryError(
                "\(device.name) cannot work on the store of \(other).",
                "Name a device that has a store of its own.")
        }
    }

    private func checkModel(_ name: String) throws {
        guard story.models[name] == nil else { return }
        let known = story.models.keys.filter { !$0.isEmpty }.sorted()
        guard name.isEmpty else {
            throw StoryError(
                "There is no model \(name).", "There are \(known.joined(separator: ", ")).")
        }
        throw StoryError(
            "A device does not say which model it has.",
            "Write 'device Ann with model \(known.first ?? "NAME")'.")
    }

    private mutating func check(_ step: StoryStep) throws {
        switch step.action {
        case .device(_, .sharing) where story.isPublic:
            throw StoryError(
                "Nothing is shared in the public database.",
                "Its users have all of it; leave out 'database public' for a story of shares.")
        case .service(.deleteZone) where story.isPublic:
            throw StoryError("The zone of the public database cannot be deleted.")
        case .device(let names, .sharing(let sharing)): try check(sharing, by: names)
        case .device(_, let deed): try check(deed)
        case .expect(let expectation):
            try check(rule: expectation.rule)
            try check(expectation.fact)
        case .everyoneSyncs, .everyoneSettles, .service, .pass: break
        }
    }

    /// What is expected under a rule that is not played would hold unseen.
    private func check(rule: String?) throws {
        guard let rule, !story.comparedRules.contains(rule) else { return }
        throw StoryError(
            "The story is not played under \(rule).",
            "Write 'compare policies \((story.comparedRules + [rule]).joined(separator: ", "))' "
                + "at its beginning.")
    }

    private mutating func check(_ deed: StoryDeed) throws {
        switch deed {
        case .insert(let entity, let handle, let values):
            try checkInsert(entity, handle)
            for value in values { try check(StoryProperty(handle, value.property)) }
        case .set(let property, _), .add(_, let property), .decide(let property, _):
            try check(property)
        case .remove(let members, let property):
            for member in members { try checkHandle(member) }
            try check(property)
        case .move(let handle, let place, let property):
            try checkHandle(handle)
            if case .before(let other) = place { try checkHandle(other) }
            if case .after(let other) = place { try checkHandle(other) }
            try check(property)
        case .delete(let handle), .takeBackDeletion(let handle): try checkHandle(handle)
        case .open(let model): try checkModel(model)
        case .becomeCopy(let other):
            guard story.devices.contains(where: { $0.name == other }) else {
                let known = story.devices.map(\.name).joined(separator: ", ")
                throw StoryError("There is no device \(other).", "The devices are: \(known).")
            }
        case .choose(let choices):
            for choice in choices where entityDescription(choice.entity) == nil {
                throw unknownEntity(choice.entity)
            }
        default: break
        }
    }

    private mutating func check(_ sharing: StorySharing, by names: [String]) throws {
        let users = Set(story.devices.filter { names.contains($0.name) }.map(\.user))
        switch sharing {
        case .share(let handles, let name):
            for handle in handles { try checkHandle(handle) }
            guard shares.insert(name).inserted else {
                throw StoryError("A share is called \(name) already.", "Choose another name.")
            }
        case .invite(let user, _, _), .revoke(_, let user):
            let known = Set(story.devices.compactMap(\.user))
            guard known.contains(user) else {
                throw StoryError(
                    "There is no other user \(user).",
                    "Write 'devices Phone of \(user)' where the devices are named.")
            }
        case .accept, .leave:
            guard !users.contains(nil) else {
                throw StoryError(
                    "The owner takes part already.", "It is devices of other users who do that.")
            }
        case .end: break
        }
        guard shares.contains(sharing.share) else {
            throw StoryError(
                "No share is called \(sharing.share) here.", "Write: Ann shares n as trip")
        }
    }

    private mutating func checkInsert(_ entity: String, _ handle: String) throws {
        guard entities[handle] == nil else {
            throw StoryError("An object is called \(handle) already.", "Choose another name.")
        }
        guard let description = entityDescription(entity) else {
            throw unknownEntity(entity)
        }
        guard !description.isAbstract else {
            throw StoryError("\(entity) is abstract.", "Insert one of its heirs.")
        }
        entities[handle] = entity
    }

    private func unknownEntity(_ name: String) -> StoryError {
        let known = Set(story.models.values.flatMap { $0.entities.compactMap(\.name) })
        return StoryError(
            "There is no entity \(name).", "There are \(known.sorted().joined(separator: ", ")).")
    }

    private func entityDescription(_ name: String) -> NSEntityDescription? {
        story.models.values.compactMap { $0.entitiesByName[name] }.first
    }

    private func checkHandle(_ handle: String) throws {
        guard entities[handle] == nil else { return }
        let known = entities.keys.sorted().joined(separator: ", ")
        throw StoryError(
            "No object is called \(handle) here.",
            known.isEmpty ? "Insert one first." : "There are \(known).")
    }

    private func check(_ property: StoryProperty) throws {
        try checkHandle(property.handle)
        let name = entities[property.handle] ?? ""
        let known = Set(
            story.models.values.compactMap { $0.entitiesByName[name] }
                .flatMap { $0.propertiesByName.keys })
        guard !known.contains(property.name) else { return }
        throw StoryError(
            "\(property.handle) is a \(name), which has no \(property.name).",
            "It has \(known.sorted().joined(separator: ", ")).")
    }

    private func check(_ fact: StoryExpectation.Fact) throws {
        switch fact {
        case .value(let property, _), .waits(let property): try check(property)
        case .isThere(let handles), .isGone(let handles):
            for handle in handles { try checkHandle(handle) }
        case .isOne(let one, let other):
            try checkHandle(one)
            try checkHandle(other)
        case .logged(let property, let handle, _):
            if let property { try check(property) }
            if let handle { try checkHandle(handle) }
        case .count(_, let entity):
            if entityDescription(entity) == nil { throw unknownEntity(entity) }
        case .agreement, .inSync, .nothingLogged, .refused, .told: break
        }
    }
}
