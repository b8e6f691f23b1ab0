import RecordWire
import Testing

/// Headers that say what a client likes.
@Suite struct QualityValuesTests {
    @Test(
        arguments: [
            ("gzip, zstd;q=0.5", ["gzip 1.0", "zstd 0.5"]),
            (" GZip ;Q = 0.25,\t*;q=0", ["gzip 0.25", "* 0.0"]),
            ("text/html;level=1;q=0.7", ["text/html 0.7"]),
            ("br;q=much, ,;q=1,deflate", ["br 0.0", "q=1 1.0", "deflate 1.0"]),
            ("", []),
        ])
    func choicesAreReadInTheirOrder(header: String, choices: [String]) {
        let read = QualityValues(header).choices
        #expect(read.map { "\($0.name) \($0.quality)" } == choices)
    }

    @Test func archivedRecordsAreGivenToWhoNamesThem() {
        let type = WireFormat.archived.mediaType
        for header in [type, "application/json;q=0.5, \(type)", "\(type.uppercased());q=0.1"] {
            #expect(WireFormat(acceptedBy: header) == .archived, "\(header)")
        }
        for header in [nil, "*/*", "\(type);q=0", "\(type);q=0.0 , text/html", "x\(type)"] {
            #expect(WireFormat(acceptedBy: header) == .json, "\(header ?? "")")
        }
        #expect(WireFormat(contentType: " \(type.uppercased()) ; charset=utf-8") == .archived)
        #expect(WireFormat(contentType: nil) == .json)
    }
}
