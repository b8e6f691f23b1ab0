/// A fetch request, as the function FETCH runs it.
package protocol FetchAnswering {
    /// What the request finds in `context`, or how many things.
    func answer(in context: Any?, countOnly: Bool) throws -> Any?
}
