internal import Foundation
internal import ObjectStorage
internal import RecordService

/// A page of a bucket's names, as a store of objects answers it.
enum ListingTarget {
    static func read(_ data: Data) throws {
        let page = try ObjectPage(listing: data, prefix: "assets/")
        guard page.objects.count <= 1_001 else {
            throw BrokenPromise(description: "a page has more names than were asked for")
        }
    }
}
