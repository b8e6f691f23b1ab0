import Foundation
import Platform
import RecordServer

extension BucketDouble {
    /// Puts an object there as somebody else would, so many seconds ago.
    func lay(_ path: String, _ bytes: Int = 5, age seconds: Double = 0) {
        state.withLock { state in
            state.objects[path] = Data(count: bytes)
            state.dates[path] = Date().addingTimeInterval(-seconds)
        }
    }

    /// It is gone, and nobody was asked.
    func drop(_ path: String) { state.withLock { $0.objects[path] = nil } }

    func age(by seconds: Double) {
        state.withLock { state in
            for name in state.objects.keys {
                state.dates[name, default: Date()].addTimeInterval(-seconds)
            }
        }
    }

    func givePages(_ pages: [Data]) { state.withLock { $0.pages = pages } }
    func setPageMax(_ count: Int) { state.withLock { $0.pageMax = count } }

    /// ListObjectsV2. A mark holds what has to be encoded in an address.
    func list(_ query: HTTPQuery) -> HTTPResponse {
        state.withLock { state in
            if !state.pages.isEmpty {
                return HTTPResponse(status: 200, body: state.pages.removeFirst())
            }
            let prefix = "/shelf/" + (query["prefix"] ?? "")
            let last = query["continuation-token"].map { String($0.dropFirst(Self.mark.count)) }
            let names = state.objects.keys.sorted().filter {
                $0.hasPrefix(prefix) && $0 > last ?? ""
            }
            let page = names.prefix(state.pageMax)
            let entries = page.map { name in
                let size = state.objects[name]?.count ?? 0
                let date = state.dates[name] ?? Date()
                let key = name.dropFirst("/shelf/".count)
                    .addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
                return "<Contents><Key>\(key ?? "")</Key><LastModified>\(Self.text(date))"
                    + "</LastModified><ETag>&quot;0&quot;</ETag><Size>\(size)</Size></Contents>"
            }
            var xml = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
            xml += #"<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">"#
            xml += "<Name>shelf</Name><EncodingType>url</EncodingType>"
            if page.count < names.count, let next = page.last {
                xml += "<IsTruncated>true</IsTruncated>"
                xml += "<NextContinuationToken>\(Self.mark)\(next)</NextContinuationToken>"
            } else {
                xml += "<IsTruncated>false</IsTruncated>"
            }
            xml += entries.joined() + "</ListBucketResult>"
            return HTTPResponse(status: 200, body: Data(xml.utf8))
        }
    }

    private static let mark = "a+/=~ "

    private static func text(_ date: Date) -> String {
        date.formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
