/// Words for what is wrong with a body, and where.
enum WireProblem {
    /// `operations[3].record.fields.title is missing`; an empty place is the whole body.
    static func at(_ place: String, _ reason: String) -> RecordError {
        RecordError(.badRequest, "\(place.isEmpty ? "The body" : place) \(reason).")
    }
}
