package import ObjectModel
package import Stores

extension NSMergePolicy {
    /// Asks the policy about an object that two devices changed, as a save asks it: `own` are the
    /// object's values, `other` those of the store, `base` those it was read with; nil where
    /// neither knew of the other. Returns the values the object is to have. Values stand in the
    /// slots of the entity's layout.
    ///
    /// The object belongs to no context, and has no links. Runs on the caller's thread, within its
    /// transaction. Throws what the policy throws.
    package final func decide(
        _ entity: NSEntityDescription, base: [AttributeValue]?, own: [AttributeValue],
        other: [AttributeValue]
    ) throws -> [AttributeValue] {
        let object = KnownClasses.type(of: entity).init(entity: entity, insertInto: nil)
        guard object.attributes.count == own.count, own.count == other.count else { return own }
        let links = object.shape.noToOnes
        let former = base ?? Array(repeating: .null, count: own.count)
        object.attributes = own
        object.snapshot = ObjectSnapshot(version: 1, attributes: former, toOnes: links)
        let conflict = NSMergeConflict(
            object, stored: ObjectSnapshot(version: 2, attributes: other, toOnes: links))
        try resolve(mergeConflicts: [conflict])
        return object.attributes
    }
}
