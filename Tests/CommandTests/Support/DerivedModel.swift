import Foundation

extension Workshop {
    /// Makes a model whose entity Note has an attribute that its store computes.
    func derivedModel() throws -> String {
        let model = path("Derived.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Note">
                    <attribute name="title" optional="YES" attributeType="String"/>
                    <attribute name="search" optional="YES" attributeType="String" derived="YES" \
            derivationExpression="canonical:(title)"/>
                </entity>
            </model>
            """, to: "Derived.xcdatamodel/contents")
        return model
    }
}
