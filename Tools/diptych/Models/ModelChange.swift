/// One difference between two versions of a model.
struct ModelChange: Sendable {
    /// What it means for a store of the older model.
    enum Effect: String, Sendable {
        /// Stores fit both models; nothing is to be done.
        case none
        /// A lightweight migration does it and loses nothing.
        case lightweight
        /// A lightweight migration does it, and values are lost.
        case losesData
        /// No lightweight migration does it.
        case impossible
    }

    /// A word for programs, such as `addedAttribute`.
    let code: String
    let entity: String
    var property: String?
    /// What changed, in words.
    let detail: String
    let effect: Effect
    /// What to know or to do, where there is something.
    var advice: String?

    var json: JSON {
        [
            "change": .string(code), "entity": .string(entity), "property": JSON(property),
            "detail": .string(detail), "effect": .string(effect.rawValue), "advice": JSON(advice),
        ]
    }
}
