internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

// The model's rules, applied before a save.
extension NSManagedObject {
    enum ValidationEvent {
        case insert, update, delete
    }

    /// Throws one error, or several as NSValidationMultipleErrorsError.
    final func validate(for event: ValidationEvent) throws {
        if isFault { fire() }
        if isFault, let context { throw context.takeFailure() }
        let errors = event == .delete ? deleteErrors() : propertyErrors(for: event)
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        throw PersistenceErrors.make(
            NSValidationMultipleErrorsError,
            "The object breaks \(errors.count) rules of its model.",
            [NSDetailedErrorsKey: errors, NSValidationObjectErrorKey: self])
    }

    private func propertyErrors(for event: ValidationEvent) -> [NSError] {
        if ValidationOverrides.contains(type(of: self)) { return overriddenErrors() }
        var errors = (extras?.misfits ?? [:]).map { misfitError($0.key, $0.value) }
        for check in shape.checks where extras?.misfits[check.name] == nil {
            if let error = error(of: check, about: attributes[check.slot]) { errors.append(error) }
        }
        for slot in toOnes.indices {
            if let error = linkError(slot) { errors.append(error) }
        }
        for slot in toManys.indices where event == .insert || toManys[slot].isChanged {
            if let error = strangerError(slot) ?? countError(slot) { errors.append(error) }
        }
        return errors
    }

    /// What `validateValue`, which the class overrides, throws for the properties.
    private func overriddenErrors() -> [NSError] {
        var errors: [NSError] = []
        for name in shape.propertyNames {
            guard let slot = shape.slot(name) else { continue }
            let value: Any?
            switch slot {
            case .fetched: continue
            case .toMany(let index):
                let hasRule = shape.layout.toManys[index].hasCountRule
                let isGiven = toManys[index].isChanged || extras?.misfits[name] != nil
                guard toManys[index].isLoaded || isGiven || hasRule else { continue }
                load(index)
                if hasRule, !toManys[index].isLoaded, let failure = context?.takeFailure() {
                    errors.append(failure as NSError)
                    continue
                }
                value = toManys[index].isLoaded ? read(slot, name) : nil
            case .attribute, .toOne, .composite, .transient: value = read(slot, name)
            }
            do {
                try validateValue(value, forKey: name)
                // An override may let pass what no row can take.
                if let misfit = extras?.misfits[name] { throw misfitError(name, misfit) }
                if case .toMany(let index) = slot, let error = strangerError(index) { throw error }
            } catch {
                errors.append(PersistenceErrors.bridged(error) as NSError)
            }
        }
        return errors
    }

    private func misfitError(_ key: String, _ value: Any?) -> NSError {
        let found = value.map { "\(type(of: $0))" } ?? "nil"
        return validationError(
            NSManagedObjectValidationError, key, "cannot hold a value of type \(found)", value)
    }

    /// A member that was added, but is of an entity the relationship does not lead to: its row's
    /// key would be that of another object.
    private func strangerError(_ slot: Int) -> NSError? {
        let relationship = shape.layout.toManys[slot]
        guard let destination = relationship.destinationEntity else { return nil }
        let stranger = toManys[slot].added.first { !$0.id.entity.isKindOf(entity: destination) }
        guard let stranger else { return nil }
        return validationError(
            NSManagedObjectValidationError, relationship.name,
            "cannot hold an object of \"\(stranger.id.entity.name ?? "")\"",
            shown(toMany: slot))
    }

    private func linkError(_ slot: Int) -> NSError? {
        linkError(slot) {
            toOnes[slot].map { context?.registeredObject(for: $0)?.isDeleted != true } ?? false
        }
    }

    /// `isGiven` says whether there is an object that stays.
    private func linkError(_ slot: Int, _ isGiven: () -> Bool) -> NSError? {
        let relationship = shape.layout.toOnes[slot]
        guard !relationship.isOptional, !isGiven() else { return nil }
        return validationError(
            NSValidationMissingMandatoryPropertyError, relationship.name, "needs an object")
    }

    private func error(of check: AttributeCheck, about value: AttributeValue) -> NSError? {
        if let complaint = check.complaint(about: value) {
            let shown = AttributeCoding.present(value, for: check.attribute)
            return validationError(complaint.code, check.name, complaint.text, shown)
        }
        guard !check.rules.isEmpty, !value.isNull else { return nil }
        let shown = AttributeCoding.present(value, for: check.attribute)
        for rule in check.rules where !rule.predicate.evaluate(with: shown) {
            let error = validationError(
                rule.code ?? NSManagedObjectValidationError, check.name,
                "does not satisfy its rule", shown)
            var userInfo = error.userInfo
            userInfo[NSValidationPredicateErrorKey] = rule.predicate
            if let sentence = rule.sentence { userInfo[NSLocalizedDescriptionKey] = sentence }
            return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
        }
        return nil
    }

    private func countError(_ slot: Int) -> NSError? {
        let relationship = shape.layout.toManys[slot]
        guard relationship.hasCountRule else { return nil }
        load(slot)
        guard toManys[slot].isLoaded else { return context?.takeFailure() as NSError? }
        return countError(slot, of: toManys[slot].count, shown: shown(toMany: slot))
    }

    private func shown(_ id: NSManagedObjectID) -> Any? { context?.object(with: id) }

    /// The members that a relationship's error is about.
    private func shown(toMany slot: Int) -> Any {
        let objects = toManys[slot].all.compactMap { context?.object(with: $0.id) }
        return shape.layout.toManys[slot].isOrdered
            ? NSOrderedSet(array: objects) : Set(objects) as Any
    }

    private func countError(
        _ slot: Int, of count: Int, shown: @autoclosure () -> Any?
    ) -> NSError? {
        let relationship = shape.layout.toManys[slot]
        guard relationship.hasCountRule else { return nil }
        // A to-many that is not optional and names no minimum may be empty, as with Apple.
        if count == 0 && (relationship.isOptional || relationship.minCount <= 0) { return nil }
        if count == 0 && relationship.minCount == 1 {
            return validationError(
                NSValidationMissingMandatoryPropertyError, relationship.name, "needs an object")
        }
        if count < relationship.minCount {
            return validationError(
                NSValidationRelationshipLacksMinimumCountError, relationship.name,
                "needs at least \(relationship.minCount) objects", shown())
        }
        if relationship.maxCount > 0 && count > relationship.maxCount {
            return validationError(
                NSValidationRelationshipExceedsMaximumCountError, relationship.name,
                "takes at most \(relationship.maxCount) objects", shown())
        }
        return nil
    }

    /// A deny rule holds as long as anything that is not deleted is at the other end.
    private func deleteErrors() -> [NSError] {
        var errors: [NSError] = []
        func check(
            _ relationship: NSRelationshipDescription, _ ids: [NSManagedObjectID],
            _ shown: @autoclosure () -> Any?
        ) {
            let survives = ids.contains { context?.registeredObject(for: $0)?.isDeleted != true }
            guard survives else { return }
            errors.append(
                validationError(
                    NSValidationRelationshipDeniedDeleteError, relationship.name,
                    "still leads to objects; delete them or take them out first", shown()))
        }
        for (slot, relationship) in shape.layout.toOnes.enumerated()
        where relationship.deleteRule == .denyDeleteRule {
            let target = toOnes[slot]
            check(relationship, target.map { [$0] } ?? [], target.flatMap(shown))
        }
        for (slot, relationship) in shape.layout.toManys.enumerated()
        where relationship.deleteRule == .denyDeleteRule {
            load(slot)
            guard toManys[slot].isLoaded else {
                if let failure = context?.takeFailure() { errors.append(failure as NSError) }
                continue
            }
            check(relationship, toManys[slot].all.map(\.id), shown(toMany: slot))
        }
        return errors
    }

    /// What is wrong with giving `key` this value, whatever the object has; nil when nothing is.
    final func validationError(of value: Any?, forKey key: String) -> NSError? {
        let slot: Int
        switch shape.slot(key) {
        case .attribute(let index): slot = index
        case .toOne(let index):
            return linkError(index) {
                value != nil && !(value is NSNull) && (value as? NSManagedObject)?.isDeleted != true
            }
        case .toMany(let index):
            return Self.count(of: value).flatMap { countError(index, of: $0, shown: value) }
        case .composite(let elements): return holds(value, elements) ? nil : misfitError(key, value)
        case .transient, .fetched, nil: return nil
        }
        let attribute = shape.layout.attributes[slot].attribute
        guard let accepted = AttributeCoding.accept(value, for: attribute) else {
            return misfitError(key, value)
        }
        return shape.checks.first { $0.slot == slot }.flatMap { error(of: $0, about: accepted) }
    }

    /// How many members a to-many is given; nil for what is no collection.
    private static func count(of value: Any?) -> Int? {
        switch value {
        case nil, is NSNull: 0
        case let members as NSSet: members.count
        case let members as NSOrderedSet: members.count
        case let members as NSArray: members.count
        case let members as any Collection: members.count
        default: nil
        }
    }

    /// Whether a composite can hold a value. Its elements' rules are theirs: each is a key, too.
    private func holds(_ value: Any?, _ elements: CompositeSlots) -> Bool {
        elements.spread(value)?.allSatisfy { slot, value in
            AttributeCoding.accept(value, for: shape.layout.attributes[slot].attribute) != nil
        } ?? false
    }

    private func validationError(
        _ code: Int, _ key: String, _ text: String, _ value: Any? = nil
    ) -> NSError {
        var userInfo: [String: Any] = [
            NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: key,
        ]
        userInfo[NSValidationValueErrorKey] = value
        return PersistenceErrors.make(
            code, "The property \"\(key)\" of \"\(entity.name ?? "")\" \(text).", userInfo)
    }
}

extension NSRelationshipDescription {
    /// Whether the number of members is bounded.
    fileprivate var hasCountRule: Bool { minCount > 0 || maxCount > 0 }
}
