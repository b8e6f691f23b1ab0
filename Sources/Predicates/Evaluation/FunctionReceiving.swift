/// Anything that answers functions of its own in expressions: what `FUNCTION(receiver, 'name:', …)`
/// calls, since there are no selectors off Apple's platforms.
public protocol FunctionReceiving {
    /// Returns the value of the function `name`, its colons included. Throws an `Error` of its own
    /// for a function it does not have; whoever evaluates the expression hands it on.
    func value(ofFunction name: String, arguments: [Any?]) throws -> Any?
}
