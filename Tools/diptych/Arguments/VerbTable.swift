/// The verbs there are.
enum VerbTable {
    static let verbs: [any Verb.Type] = [
        Sync.self, Status.self, Conflicts.self, Events.self, Reset.self, Serve.self,
        Inspect.self, Create.self, EditStore.self, Export.self, ImportObjects.self, Convert.self,
        ModelVerb.self,
    ]

    static var manuals: [Manual] { verbs.map { $0.manual } }

    static func verb(named name: String) -> (any Verb.Type)? {
        verbs.first { $0.manual.name == name }
    }
}
