"""Saturated terminals of an LTE cell in ns-3: `python lte.py TERMINALS DISTANCE SECONDS BUFFER`; prints JSON.

Terminals at one distance in metres from their base station receive UDP datagrams of 1500 bytes with headers, over
20 MHz, RLC in the unacknowledged mode with a buffer of this many bytes, without errors. Run with a Python that has the
package ns3.
"""

import json
import sys
import time

from ns import ns

terminals, distance, seconds, buffer = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
BEGIN = 0.5

ns.Config.SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping", ns.StringValue("RlcUmAlways"))
ns.Config.SetDefault("ns3::LteRlcUm::MaxTxBufferSize", ns.UintegerValue(buffer))
ns.Config.SetDefault("ns3::LteSpectrumPhy::CtrlErrorModelEnabled", ns.BooleanValue(False))
ns.Config.SetDefault("ns3::LteSpectrumPhy::DataErrorModelEnabled", ns.BooleanValue(False))
# Channel quality by the formula of Piro, Baldo and Miozzo, not by curves.
ns.Config.SetDefault("ns3::LteAmc::AmcModel", ns.StringValue("PiroEW2010"))
# Periods of sounding that are enough for this many terminals.
ns.Config.SetDefault("ns3::LteEnbRrc::SrsPeriodicity", ns.UintegerValue(40))
lte = ns.CreateObject[ns.LteHelper]()
core = ns.CreateObject[ns.PointToPointEpcHelper]()
lte.SetEpcHelper(core)
lte.SetEnbDeviceAttribute("DlBandwidth", ns.UintegerValue(100))
lte.SetEnbDeviceAttribute("UlBandwidth", ns.UintegerValue(100))
lte.SetSchedulerType("ns3::PfFfMacScheduler")
hosts = ns.NodeContainer()
hosts.Create(1)
internet = ns.InternetStackHelper()
internet.Install(hosts)
wire = ns.PointToPointHelper()
wire.SetDeviceAttribute("DataRate", ns.StringValue("10Gb/s"))
wire.SetChannelAttribute("Delay", ns.StringValue("0ms"))
devices = wire.Install(core.GetPgwNode(), hosts.Get(0))
addresses = ns.Ipv4AddressHelper()
addresses.SetBase(ns.Ipv4Address("1.0.0.0"), ns.Ipv4Mask("255.0.0.0"))
addresses.Assign(devices)
routes = ns.Ipv4StaticRoutingHelper()
to_terminals = routes.GetStaticRouting(hosts.Get(0).GetObject[ns.Ipv4]())
to_terminals.AddNetworkRouteTo(ns.Ipv4Address("7.0.0.0"), ns.Ipv4Mask("255.0.0.0"), 1)
stations, nodes = ns.NodeContainer(), ns.NodeContainer()
stations.Create(1)
nodes.Create(terminals)
mobility = ns.MobilityHelper()
mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
mobility.Install(stations)
mobility.Install(nodes)
for number in range(terminals):
    nodes.Get(number).GetObject[ns.MobilityModel]().SetPosition(ns.Vector(distance, 0, 0))
station, radios = lte.InstallEnbDevice(stations), lte.InstallUeDevice(nodes)
internet.Install(nodes)
core.AssignUeIpv4Address(radios)
for number in range(terminals):
    node = nodes.Get(number)
    routes.GetStaticRouting(node.GetObject[ns.Ipv4]()).SetDefaultRoute(core.GetUeDefaultGatewayAddress(), 1)
    lte.Attach(radios.Get(number), station.Get(0))
    port = 1000 + number
    here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo()
    ns.PacketSinkHelper("ns3::UdpSocketFactory", here).Install(node)
    address = node.GetObject[ns.Ipv4]().GetAddress(1, 0).GetLocal()
    client = ns.UdpClientHelper(ns.InetSocketAddress(address, port).ConvertTo())
    # More than the cell can send.
    client.SetAttribute("Interval", ns.TimeValue(ns.NanoSeconds(150_000 * terminals)))
    client.SetAttribute("MaxPackets", ns.UintegerValue(1 << 30))
    client.SetAttribute("PacketSize", ns.UintegerValue(1472))
    client.Install(hosts.Get(0)).Start(ns.Seconds(BEGIN))
helper = ns.FlowMonitorHelper()
monitor = helper.InstallAll()
ns.Simulator.Stop(ns.Seconds(BEGIN + seconds))
start = time.process_time()
ns.Simulator.Run()
spent = time.process_time() - start
packets, delays = 0, 0.0
for pair in monitor.GetFlowStats():
    packets += pair[1].rxPackets
    delays += pair[1].delaySum.GetSeconds()
print(json.dumps({"mbps": packets * 0.012 / seconds, "delay_ms": 1e3 * delays / packets, "cpu_s": spent}))
