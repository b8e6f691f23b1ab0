import Foundation

enum StackDepth {
    /// The number of calls that whoever asks is within, on its thread; at most 128.
    static var now: Int { Thread.callStackReturnAddresses.count }
}
