import Foundation
import ObjectModel
import Stores
import Testing

@Suite struct MemoryRowStoreTests {
    @Test func anEmptyStoreHasNoRowsAndNoHistory() throws {
        let store = MemoryRowStore(layout: ModelLayout(model: NSManagedObjectModel()))
        #expect(try store.lastTransactionNumber() == 0)
        #expect(try store.row(RowID(entity: 1, key: 1)) == nil)
    }
}
