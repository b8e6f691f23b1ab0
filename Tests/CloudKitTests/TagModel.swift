import CoreData

/// What several users tag in one public database.
enum TagModel {
    /// Tags, each word once, and the notes that have one, or several more.
    static func make(isUnique: Bool = true) -> NSManagedObjectModel {
        func text(_ name: String) -> NSAttributeDescription {
            let text = NSAttributeDescription()
            text.name = name
            text.attributeType = .stringAttributeType
            text.isOptional = true
            return text
        }
        func relationship(
            _ name: String, _ entity: NSEntityDescription, _ count: Int
        ) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = entity
            relationship.maxCount = count
            relationship.isOptional = true
            return relationship
        }
        let (tag, note) = (NSEntityDescription(), NSEntityDescription())
        (tag.name, note.name) = ("Tag", "Note")
        let (one, many) = (relationship("tag", tag, 1), relationship("notes", note, 0))
        let (more, others) = (relationship("more", tag, 0), relationship("others", note, 0))
        (one.inverseRelationship, many.inverseRelationship) = (many, one)
        (more.inverseRelationship, others.inverseRelationship) = (others, more)
        tag.properties = [text("text"), text("color"), many, others]
        note.properties = [text("text"), one, more]
        if isUnique { tag.uniquenessConstraints = [["text"]] }
        let model = NSManagedObjectModel()
        model.entities = [tag, note]
        return model
    }
}
