internal import Foundation

/// Lets go of the ends of a relationship one after the other: a long chain of objects, each of
/// which alone keeps the next, would otherwise end in as many nested calls.
enum EndsRelease {
    /// The ends that wait while one is let go of on a thread.
    private final class Waiting {
        var ends: [AnyObject] = []
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Empties what holds the ends of an object's relationships.
    static func release(_ toOnes: inout [NSManagedObject?], _ toManys: inout [ToManyMembers]) {
        var ends: [AnyObject] = toOnes.compactMap { $0 }
        ends += toManys.compactMap(\.held)
        toOnes = []
        for slot in toManys.indices { toManys[slot].letGo() }
        if let place = pthread_getspecific(key) {
            // Alive: the call that put it there is still running on this thread.
            Unmanaged<Waiting>.fromOpaque(place).takeUnretainedValue().ends += ends
            return
        }
        let waiting = Waiting()
        waiting.ends = ends
        ends = []
        pthread_setspecific(key, Unmanaged.passUnretained(waiting).toOpaque())
        while waiting.ends.popLast() != nil {}
        pthread_setspecific(key, nil)
    }
}
