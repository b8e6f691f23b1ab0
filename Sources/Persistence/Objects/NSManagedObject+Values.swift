internal import Foundation
internal import ObjectModel
internal import Stores

// Reading and writing slots.
extension NSManagedObject {
    /// The value by key, as `value(forKey:)` and `setValue(_:forKey:)` give it.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    final func read(_ slot: ObjectLayout.Slot, _ key: String) -> Any? {
        if let misfit = extras?.misfits[key] { return misfit }
        switch slot {
        case .attribute(let index): return attribute(index)
        case .toOne(let index): return target(index)
        case .toMany(let index): return collection(index)
        case .composite(let elements): return elements.dictionary(attribute)
        case .transient: return extras?.transients[key]
        case .fetched: return context?.fetchedProperty(key, of: self)
        }
    }

    private func attribute(_ index: Int) -> Any? {
        let value = attribute(at: index)
        guard case .data = value else {
            return AttributeCoding.present(value, for: shape.layout.attributes[index].attribute)
        }
        let attribute = shape.layout.attributes[index].attribute
        guard attribute.attributeType == .transformableAttributeType else {
            return AttributeCoding.present(value, for: attribute)
        }
        if let known = extras?.transformed[index] { return known }
        let decoded = AttributeCoding.present(value, for: attribute)
        if let decoded { withExtras { $0.transformed[index] = decoded } }
        return decoded
    }

    final func write(_ value: Any?, to slot: ObjectLayout.Slot, _ key: String) {
        if extras != nil { withExtras { $0.misfits[key] = nil } }
        let fits: Bool
        switch slot {
        case .attribute(let index): fits = setAttribute(index, to: value)
        case .toOne(let index): fits = setToOne(index, toValue: value)
        case .toMany(let index): fits = setToMany(index, toValue: value)
        case .composite(let elements): fits = setComposite(elements, to: value, key)
        case .transient, .fetched:
            withExtras { $0.transients[key] = value }
            fits = true
        }
        if !fits, let value { withExtras { $0.misfits[key] = value } }
    }

    /// A value that does not fit as a whole, or one of whose elements does not, empties them all.
    private func setComposite(
        _ elements: CompositeSlots, to value: Any?, _ key: String
    ) -> Bool {
        for name in extras?.misfits.keys.filter({ $0.hasPrefix("\(key).") }) ?? [] {
            withExtras { $0.misfits[name] = nil }
        }
        guard let values = elements.spread(value) else {
            for slot in elements.all { _ = setAttribute(slot, to: nil) }
            return false
        }
        var fits = true
        for (slot, value) in values where !setAttribute(slot, to: value) { fits = false }
        return fits
    }

    private func setAttribute(_ index: Int, to value: Any?) -> Bool {
        let attribute = shape.layout.attributes[index].attribute
        let accepted = AttributeCoding.accept(value, for: attribute)
        attributes[index] = accepted ?? .null
        if attribute.attributeType == .transformableAttributeType {
            if isStored(value, as: accepted, at: index), let snapshot {
                attributes[index] = snapshot.attributes[index]
            }
            withExtras { $0.transformed[index] = accepted == nil ? nil : value }
        }
        return accepted != nil
    }

    /// Whether a transformable value equals the stored one whose bytes differ: an archive of equal
    /// values need not be the same, and setting what was there is no change.
    private func isStored(_ value: Any?, as accepted: AttributeValue?, at index: Int) -> Bool {
        guard let value, case .data = accepted, let stored = snapshot?.attributes[index],
            case .data = stored, stored != accepted,
            let former = AttributeCoding.present(
                stored, for: shape.layout.attributes[index].attribute)
        else { return false }
        guard let former = (former as AnyObject) as? NSObject,
            let present = (value as AnyObject) as? NSObject
        else { return false }
        return former.isEqual(present) && Spelling(former) == Spelling(present)
    }

    /// Gives transient attributes the model's default values.
    final func beginTransients() {
        guard !shape.transientDefaults.isEmpty else { return }
        withExtras { $0.transients = shape.transientDefaults }
    }

    /// Whether a transient attribute has another value than it began with.
    final var hasOwnTransients: Bool {
        guard let transients = extras?.transients, !transients.isEmpty else { return false }
        return transients.contains { name, value in
            let beginning = shape.transientDefaults[name] as? AnyHashable
            return beginning == nil || beginning != value as? AnyHashable
        }
    }

    final func withExtras(_ change: (ObjectExtras) -> Void) {
        let extras = self.extras ?? ObjectExtras()
        self.extras = extras
        change(extras)
    }

    /// The object behind an ID, in this object's context.
    final func related(_ id: NSManagedObjectID) -> NSManagedObject? {
        if let context { return context.object(with: id) }
        return extras?.companions.first { $0.identity === id }
    }
}
