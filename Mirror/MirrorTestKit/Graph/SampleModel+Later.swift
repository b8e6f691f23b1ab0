public import ObjectModel

extension SampleModel {
    /// The version after `make`, for worlds in which apps are updated: a folder is a Binder, a
    /// note's title its headline, its folder its binder, its tags its labels; notes have a
    /// subtitle, mandatory stars and an optional mood with defaults, and an author; there are
    /// people, who follow tags, and drafts, which are notes.
    ///
    /// The flags are those of `make`.
    public static func makeLater(
        uniqueLabels: Bool = false, orderedTags: Bool = false, sealed: Bool = false
    ) -> NSManagedObjectModel {
        var entities = entities(
            uniqueLabels: uniqueLabels, orderedTags: orderedTags, sealed: sealed)
        func entity(named name: String) -> NSEntityDescription? {
            entities.first { $0.name == name }
        }
        let person = Self.entity("Person", [attribute("name", .stringAttributeType)])
        let draft = Self.entity("DraftNote", [attribute("reason", .stringAttributeType)])
        if let note = entity(named: "Note"), let tag = entity(named: "Tag") {
            note.properties += laterAttributes()
            if sealed { seal(["subtitle"], in: [note]) }
            note.subentities += [draft]
            connect(person, "notes", many: true, note, "author", many: false)
            connect(person, "follows", many: true, tag, "followers", many: true)
            rename("title", to: "headline", in: note)
            rename("folder", to: "binder", in: note)
            rename("tags", to: "labels", in: note)
        }
        if let folder = entity(named: "Folder") {
            folder.renamingIdentifier = "Folder"
            folder.name = "Binder"
        }
        entities += [person, draft]
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    /// Gives a property another name; its identifier keeps the first one.
    public static func rename(_ name: String, to other: String, in entity: NSEntityDescription) {
        guard let property = entity.propertiesByName[name] else { return }
        property.renamingIdentifier = property.givenRenamingIdentifier ?? name
        property.name = other
    }

    private static func laterAttributes() -> [NSAttributeDescription] {
        let stars = attribute("stars", .integer64AttributeType)
        stars.isOptional = false
        stars.defaultValue = 3
        let mood = attribute("mood", .stringAttributeType)
        mood.defaultValue = "calm"
        return [attribute("subtitle", .stringAttributeType), stars, mood]
    }
}
