import CoreData
import Foundation

extension NSManagedObjectContext {
    /// Saves, and returns in a later millisecond. Names of records tell those of the saves: what
    /// two devices saved within one has no order that a test could expect.
    func saveInOrder() throws {
        try save()
        func milliseconds() -> Double { (Date().timeIntervalSince1970 * 1000).rounded(.down) }
        let saved = milliseconds()
        while milliseconds() <= saved {}
    }
}
