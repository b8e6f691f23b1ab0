import Foundation
import Testing

extension Workshop {
    /// A store of a model with every kind of property, filled with awkward values.
    func everyKind() throws -> (store: String, model: String) {
        let model = path("Every.xcdatamodel")
        try FileManager.default.createDirectory(
            atPath: model, withIntermediateDirectories: true)
        try write(Self.everyKindModel, to: "Every.xcdatamodel/contents")
        let store = path("Every.sqlite")
        try done(["create", store, "--model", model])
        try edit(
            store,
            """
            insert Item a name=a i16=-32768 i32=2147483647 i64=9223372036854775807 flag=true
            set a dec=12345678901234.5 dbl=110.96872103214264 flt=0.1 day=2026-03-14T09:26:53.589Z
            set a id=8394571D-30E0-4D4A-8BEA-9AB943989253 link="https://example.org/a?b=c%20d"
            set a data=base64:AP8Q text="Ünï \\"quoted\\" \\\\ \\n\\t\\u{1F600}\\u{1}"
            insert Special b name=b extra=yes i64=-9007199254740993 flag=false dbl=-1e300
            insert Item c name=c
            insert Item d name=d
            insert Box x name=x
            insert Box y name=y
            link x.items c a b
            link a.friends b c
            link b.friends b
            link c.tops a
            link a.marks y x
            set a partner=b
            """)
        _ = try sql(
            store,
            """
            update ZITEM set ZDAY = 700000000.123456, ZSHAPE = x'00ff01' where ZNAME = 'b';
            update ZITEM set ZDAY = -0.1, ZDBL = -0.0 where ZNAME = 'c';
            update ZITEM set ZDAY = 1e300, ZDBL = 5e-324 where ZNAME = 'd';
            """)
        let line = #"{"entity":"Item","values":{"name":"e","size.width":"1.50","size.unit":"mm"}}"#
        try done(["import", store, "-"], input: line)
        return (store, model)
    }

    /// What an export says, with names instead of keys, in an order of its own.
    func meaning(_ export: String) throws -> [String] {
        let lines = try export.split(separator: "\n").map {
            try #require(
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        var names: [String: String] = [:]
        for line in lines {
            let values = line["values"] as? [String: Any]
            names[line["id"] as? String ?? ""] = try #require(values?["name"] as? String)
        }
        return try lines.map { line in
            var links = line["relationships"] as? [String: Any] ?? [:]
            for (key, value) in links {
                let members = (value as? [String] ?? [value as? String ?? ""]).map {
                    names[$0] ?? "nothing"
                }
                links[key] = ["items", "marks"].contains(key) ? members : members.sorted()
            }
            let plain: [String: Any] = [
                "entity": line["entity"] ?? "", "values": line["values"] ?? "", "links": links,
            ]
            let data = try JSONSerialization.data(withJSONObject: plain, options: .sortedKeys)
            return String(decoding: data, as: UTF8.self)
        }.sorted()
    }

    private static let everyKindModel = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Item">
                <attribute name="name" attributeType="String"/>
                <attribute name="i16" optional="YES" attributeType="Integer 16"/>
                <attribute name="i32" optional="YES" attributeType="Integer 32"/>
                <attribute name="i64" optional="YES" attributeType="Integer 64"/>
                <attribute name="dec" optional="YES" attributeType="Decimal"/>
                <attribute name="dbl" optional="YES" attributeType="Double"/>
                <attribute name="flt" optional="YES" attributeType="Float"/>
                <attribute name="text" optional="YES" attributeType="String"/>
                <attribute name="flag" optional="YES" attributeType="Boolean"/>
                <attribute name="day" optional="YES" attributeType="Date"/>
                <attribute name="data" optional="YES" attributeType="Binary"/>
                <attribute name="id" optional="YES" attributeType="UUID"/>
                <attribute name="link" optional="YES" attributeType="URI"/>
                <attribute name="shape" optional="YES" attributeType="Transformable"/>
                <attribute name="size" optional="YES" attributeType="Composite" \
        composite="Size"/>
                <attribute name="mood" optional="YES" transient="YES" attributeType="String"/>
                <relationship name="box" optional="YES" maxCount="1" destinationEntity="Box" \
        inverseName="items" inverseEntity="Box"/>
                <relationship name="friends" optional="YES" toMany="YES" \
        destinationEntity="Item" inverseName="friends" inverseEntity="Item"/>
                <relationship name="tops" optional="YES" toMany="YES" destinationEntity="Item" \
        inverseName="bottoms" inverseEntity="Item"/>
                <relationship name="bottoms" optional="YES" toMany="YES" \
        destinationEntity="Item" inverseName="tops" inverseEntity="Item"/>
                <relationship name="marks" optional="YES" toMany="YES" ordered="YES" \
        destinationEntity="Box" inverseName="marked" inverseEntity="Box"/>
                <relationship name="partner" optional="YES" maxCount="1" \
        destinationEntity="Item" inverseName="partner" inverseEntity="Item"/>
            </entity>
            <entity name="Special" parentEntity="Item">
                <attribute name="extra" optional="YES" attributeType="String"/>
            </entity>
            <entity name="Box">
                <attribute name="name" attributeType="String"/>
                <relationship name="items" optional="YES" toMany="YES" ordered="YES" \
        destinationEntity="Item" inverseName="box" inverseEntity="Item"/>
                <relationship name="marked" optional="YES" toMany="YES" \
        destinationEntity="Item" inverseName="marks" inverseEntity="Item"/>
            </entity>
            <composite name="Size">
                <attribute name="unit" optional="YES" attributeType="String"/>
                <attribute name="width" optional="YES" attributeType="Decimal"/>
            </composite>
        </model>
        """
}
